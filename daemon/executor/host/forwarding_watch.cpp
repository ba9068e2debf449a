#include "daemon/executor/host/forwarding_watch.hpp"

#include <linux/rtnetlink.h>

#include <array>

#include "daemon/base/route_events.hpp"

namespace kubexm::executor {

Result<Fd> watch_forwarding() {
    constexpr std::array<int, 2> kGroups{RTNLGRP_IPV4_NETCONF, RTNLGRP_IPV6_NETCONF};
    return subscribe_route_events(kGroups);
}

}  // namespace kubexm::executor
