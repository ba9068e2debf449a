#pragma once

#include <string>

namespace kubexm::http {

/// The HTTP library this program was built with, for `kubexmd --version` and bug reports.
std::string library();

}  // namespace kubexm::http
