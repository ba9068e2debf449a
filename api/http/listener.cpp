#include "api/http/listener.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <bit>
#include <utility>

#include "daemon/base/try.hpp"

namespace kubexm::http {

Listener Listener::passed(Fd socket, api::ListenerKind kind) {
    // systemd passes it blocking: a client that is gone before accept() would block the I/O thread.
    ::fcntl(socket.get(), F_SETFL, O_NONBLOCK);
    return {std::move(socket), kind, nullptr};
}

Result<> Listener::open() {
    if (!move_) return {};
    TRY(move_(*this));
    move_ = nullptr;
    return {};
}

std::uint16_t port_of(const Fd& socket) {
    sockaddr_in6 bound{};  // both families have the port at the same offset
    socklen_t size = sizeof(bound);
    ::getsockname(socket.get(), std::bit_cast<sockaddr*>(&bound), &size);
    return ntohs(bound.sin6_port);
}

}  // namespace kubexm::http
