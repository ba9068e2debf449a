#include "api/http/wakeup.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <vector>

namespace kubexm::http {

Result<WakeupFd> WakeupFd::create() {
    Fd fd{::eventfd(0, EFD_CLOEXEC)};
    if (!fd) return from_errno("eventfd", "wakeup of the API");
    return WakeupFd(std::move(fd));
}

void WakeupFd::wait(std::span<const Listener> listeners) const {
    std::vector<pollfd> polled{{.fd = fd_.get(), .events = POLLIN, .revents = 0}};
    for (const Listener& listener : listeners) {
        polled.push_back({.fd = listener.socket().get(), .events = POLLIN, .revents = 0});
    }
    while (::poll(polled.data(), polled.size(), -1) < 0 && errno == EINTR) {
    }
}

void WakeupFd::signal() { ::eventfd_write(fd_.get(), 1); }

}  // namespace kubexm::http
