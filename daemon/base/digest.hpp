#pragma once

#include <string>
#include <string_view>

namespace kubexm {

/// SHA-256 in lower-case hexadecimal, 64 characters.
std::string sha256(std::string_view bytes);

}  // namespace kubexm
