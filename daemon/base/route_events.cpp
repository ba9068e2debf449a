#include "daemon/base/route_events.hpp"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace kubexm {

Result<Fd> subscribe_route_events(std::span<const int> groups) {
    Fd socket{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE)};
    if (!socket) return from_errno("socket", "netlink");
    const sockaddr_nl address{.nl_family = AF_NETLINK, .nl_pad = 0, .nl_pid = 0, .nl_groups = 0};
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    if (::bind(socket.get(), generic, sizeof(address)) != 0) return from_errno("bind", "netlink");
    for (const int group : groups) {
        if (::setsockopt(socket.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group,
                         sizeof(group)) != 0) {
            return from_errno("subscribe to", "netlink");
        }
    }
    return socket;
}

void drain_route_events(int socket) {
    std::array<char, 16384> buffer{};
    for (;;) {
        const ssize_t size = ::recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
        // ENOBUFS: some were lost, which says the same.
        if (size == 0 || (size < 0 && errno != EINTR && errno != ENOBUFS)) return;
    }
}

}  // namespace kubexm
