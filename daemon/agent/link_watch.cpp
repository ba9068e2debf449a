#include "daemon/agent/link_watch.hpp"

#include <linux/rtnetlink.h>
#include <sys/epoll.h>

#include <array>

#include "daemon/base/route_events.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::agent {

Result<> LinkWatch::start() {
    // The routes because of model::Interface::is_default.
    constexpr std::array<int, 4> kGroups{RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR,
                                         RTNLGRP_IPV4_ROUTE};
    socket_ = TRY(subscribe_route_events(kGroups));
    source_ = TRY(loop_.on_io(socket_.get(), EPOLLIN, [this](std::uint32_t) {
        drain_route_events(socket_.get());
        on_change_();
    }));
    return {};
}

}  // namespace kubexm::agent
