#pragma once

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"

namespace kubexm::executor {

/// A socket (base/route_events.hpp) that becomes readable when the kernel's forwarding of IPv4 or
/// IPv6 changes. Other kernel parameters cannot be watched.
Result<Fd> watch_forwarding();

}  // namespace kubexm::executor
