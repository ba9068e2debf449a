#include "api/http/peer.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <bit>
#include <string>

namespace kubexm::http {

namespace {

/// An accepted socket has the one of its listener. Empty: not a unix socket.
std::string bound_path(int socket) {
    sockaddr_un bound{};
    socklen_t size = sizeof(bound);
    if (::getsockname(socket, std::bit_cast<sockaddr*>(&bound), &size) != 0) return "";
    return bound.sun_family == AF_UNIX ? std::string(bound.sun_path) : "";
}

std::optional<std::uint32_t> uid_of(int socket) {
    ucred peer{};
    socklen_t size = sizeof(peer);
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
    return peer.uid;
}

}  // namespace

ClientPeer peer_of(int socket, std::span<const Listener> listeners) {
    const std::string path = bound_path(socket);
    if (path.empty()) return {};
    const auto listener = std::ranges::find_if(
        listeners, [&](const Listener& each) { return bound_path(each.socket().get()) == path; });
    if (listener == listeners.end()) return {};
    return {listener->kind(), uid_of(socket)};
}

}  // namespace kubexm::http
