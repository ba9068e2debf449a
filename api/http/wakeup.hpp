#pragma once

#include <span>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"

namespace kubexm::http {

/// Where the I/O thread sleeps while nobody is connected: its own loop would wake up every ten
/// seconds, and Drogon's timers in it every second.
class WakeupFd {
public:
    static Result<WakeupFd> create();

    /// Returns when a client waits at one of the listening sockets, or when the bell was rung.
    void wait(std::span<const Fd> listeners) const;

    /// Nobody sleeps here any more. Any thread.
    void signal();

private:
    explicit WakeupFd(Fd bell) : bell_(std::move(bell)) {}
    Fd bell_;
};

}  // namespace kubexm::http
