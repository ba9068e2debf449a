#pragma once

#include <string_view>

namespace kubexm::model {

/// Whether the key, or a pattern such as "kernel.*", covers a kernel parameter that no
/// configuration can allow: one that makes the kernel run a program, load code, or drop a
/// protection.
bool is_denied_sysctl(std::string_view pattern);

}  // namespace kubexm::model
