#pragma once

#include <functional>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/loop/loop.hpp"

namespace kubexm::agent {

/// Calls back when the kernel reports a change of the links, addresses or IPv4 routes of this host,
/// also of pods. Loop thread.
class LinkWatch {
public:
    LinkWatch(Loop& loop, std::function<void()> on_change)
        : loop_(loop), on_change_(std::move(on_change)) {}

    /// denied: this process may not use netlink.
    Result<> start();

private:
    Loop& loop_;
    std::function<void()> on_change_;
    Fd socket_;
    Loop::Handle source_;
};

}  // namespace kubexm::agent
