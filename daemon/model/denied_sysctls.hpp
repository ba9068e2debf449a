#pragma once

#include <string_view>

namespace kubexm::model {

/// Whether the key, or a pattern such as "kernel.*", matches a kernel parameter that no
/// configuration can permit: one that makes the kernel run a program, load code or give up a
/// protection.
bool is_denied_sysctl(std::string_view pattern);

}  // namespace kubexm::model
