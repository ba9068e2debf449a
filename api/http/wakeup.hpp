#pragma once

#include <span>

#include "api/http/listener.hpp"
#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"

namespace kubexm::http {

/// Lets the I/O thread sleep without connections: trantor's loop would wake up every ten seconds,
/// and Drogon's timers every second.
class WakeupFd {
public:
    static Result<WakeupFd> create();

    /// Returns when a client connects to a listener, or after signal().
    void wait(std::span<const Listener> listeners) const;

    /// Ends this wait() and all later ones. Any thread.
    void signal();

private:
    explicit WakeupFd(Fd fd) : fd_(std::move(fd)) {}
    Fd fd_;
};

}  // namespace kubexm::http
