#pragma once

#include <string_view>

namespace kubexm::model {

/// Whether the key, or a pattern such as "kernel.*", means a kernel parameter that nobody may set
/// through us, whatever a configuration says: those that make the kernel run a program, load code,
/// or give up a protection of its own.
bool is_denied_sysctl(std::string_view pattern);

}  // namespace kubexm::model
