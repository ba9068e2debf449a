#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <cerrno>
#include <tuple>

#include "api/http/listener.hpp"
#include "api/http/socket_address.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::http {

namespace {

constexpr std::uint32_t kLoopbackNet = 127;

Result<SocketAddress> loopback(const std::string& text, std::uint16_t port) {
    sockaddr_in v4{.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {}, .sin_zero = {}};
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1 &&
        ntohl(v4.sin_addr.s_addr) >> 24U == kLoopbackNet) {
        return SocketAddress::of(v4);
    }
    if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1 &&
        IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr)) {
        return SocketAddress::of(v6);
    }
    return fail(Code::invalid, fmt::format("address of the API: expected 127.0.0.1 or ::1, found "
                                           "\"{:.64}\"",
                                           text));
}

struct TcpPlace {
    SocketAddress wanted;
    SocketAddress any_port;
    std::string name;
};

Fd tcp_socket(const TcpPlace& place) {
    Fd socket = stream_socket(place.wanted);
    // Connections of an earlier process would block the port for a minute.
    constexpr int kYes = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &kYes, sizeof(kYes));
    return socket;
}

Result<> listen_at_wanted(const Fd& socket, const TcpPlace& place) {
    auto listening = listen_at(socket, place.wanted, place.name);
    if (listening || errno != EADDRINUSE) return listening;
    return fail(Code::conflict,
                fmt::format("{}: in use by another process, which ss -lntp shows; stop it or "
                            "configure another port",
                            place.name));
}

/// The kernel unbinds a socket that stops listening, if the kernel had chosen its port. A socket of
/// its own tries first, so that the one of Drogon's loop does not stop listening in vain.
Result<> move_to_wanted(const Fd& socket, const TcpPlace& place) {
    TRY(listen_at_wanted(tcp_socket(place), place));
    ::shutdown(socket.get(), SHUT_RD);
    auto moved = listen_at_wanted(socket, place);
    if (!moved) std::ignore = listen_at(socket, place.any_port, place.name);
    return moved;
}

}  // namespace

Result<Listener> Listener::tcp(const std::string& address, std::uint16_t port) {
    const SocketAddress wanted = TRY(loopback(address, port));
    const SocketAddress any_port = TRY(loopback(address, 0));
    const TcpPlace place{wanted, any_port, fmt::format("{} port {}", address, port)};
    Fd socket = tcp_socket(place);
    TRY(listen_at(socket, place.any_port, place.name));
    return Listener(std::move(socket), api::ListenerKind::tcp,
                    [place](const Listener& self) { return move_to_wanted(self.socket_, place); });
}

}  // namespace kubexm::http
