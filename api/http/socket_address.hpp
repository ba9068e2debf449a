#pragma once

#include <sys/socket.h>

#include <bit>
#include <cstring>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"

namespace kubexm::http {

/// The address of a socket of any family.
struct SocketAddress {
    sockaddr_storage bytes{};
    socklen_t size = 0;

    const sockaddr* get() const { return std::bit_cast<const sockaddr*>(&bytes); }
    template <typename T>
    static SocketAddress of(const T& from) {
        SocketAddress address{.bytes = {}, .size = sizeof(from)};
        std::memcpy(&address.bytes, &from, sizeof(from));
        return address;
    }
};

inline Fd stream_socket(const SocketAddress& address) {
    return Fd{::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
}

/// `name` is for messages.
inline Result<> listen_at(const Fd& socket, const SocketAddress& address, const std::string& name) {
    constexpr int kBacklog = 64;
    if (!socket) return from_errno("socket", name);
    if (::bind(socket.get(), address.get(), address.size) != 0 ||
        ::listen(socket.get(), kBacklog) != 0) {
        return from_errno("listen", name);
    }
    return {};
}

}  // namespace kubexm::http
