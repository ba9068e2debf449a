#pragma once

#include <string>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"

namespace kubexm::agent {

/// Held by the one kubexmd that may use a state directory; the kernel lets go of it with the
/// process. conflict: another process holds it, and which.
Result<Fd> become_only_instance(const std::string& state_directory);

}  // namespace kubexm::agent
