#pragma once

#include <string>

namespace kubexm::http {

/// The HTTP library and its version, for `kubexmd --version`.
std::string library();

/// Logs its fatal messages only: clients must not be able to fill the log.
void silence_library();

}  // namespace kubexm::http
