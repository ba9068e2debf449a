#pragma once

#include <span>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"

namespace kubexm {

/// A netlink socket that becomes readable when the kernel reports a change of one of these groups
/// (RTNLGRP_LINK, ...). Needs no privilege. denied: the address family is not permitted.
Result<Fd> subscribe_route_events(std::span<const int> groups);

/// Reads the events that wait in that socket. Does not wait.
void drain_route_events(int socket);

}  // namespace kubexm
