#pragma once

#include <string>

namespace kubexm::http {

/// The HTTP library and its version, for `kubexmd --version`.
std::string library();

}  // namespace kubexm::http
