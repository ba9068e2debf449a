#pragma once

#include <cstdint>

#include "daemon/base/error.hpp"

namespace kubexm::executor {

/// Whether a process of this network namespace listens on a TCP port. Errors are the kernel's: it
/// may lack the module tcp_diag.
Result<bool> has_listener(std::uint16_t port);

}  // namespace kubexm::executor
