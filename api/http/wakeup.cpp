#include "api/http/wakeup.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <vector>

namespace kubexm::http {

Result<WakeupFd> WakeupFd::create() {
    Fd bell{::eventfd(0, EFD_CLOEXEC)};
    if (!bell) return from_errno("eventfd", "the API's wakeup");
    return WakeupFd(std::move(bell));
}

void WakeupFd::wait(std::span<const Fd> listeners) const {
    std::vector<pollfd> doors{{.fd = bell_.get(), .events = POLLIN, .revents = 0}};
    for (const Fd& listener : listeners) {
        doors.push_back({.fd = listener.get(), .events = POLLIN, .revents = 0});
    }
    while (::poll(doors.data(), doors.size(), -1) < 0 && errno == EINTR) {
    }
}

void WakeupFd::signal() { ::eventfd_write(bell_.get(), 1); }

}  // namespace kubexm::http
