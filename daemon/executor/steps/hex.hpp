#pragma once

#include <string>
#include <string_view>

#include "daemon/base/error.hpp"

namespace kubexm::executor {

/// Two lower-case digits a byte.
std::string to_hex(std::string_view bytes);
/// corrupt: it is not what to_hex writes.
Result<std::string> from_hex(std::string_view hex);

}  // namespace kubexm::executor
