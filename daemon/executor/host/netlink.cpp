#include "daemon/executor/host/netlink.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>

namespace kubexm::executor {

namespace {

constexpr std::size_t kDatagram = std::size_t{64} << 10U;  // the kernel sends no larger one
constexpr int kSendBuffer = 16 << 20;  // a transaction of the packet filter is one datagram

using Messages = std::vector<std::string>;

int collect(const nlmsghdr* message, void* messages) {
    static_cast<Messages*>(messages)->emplace_back(bytes_of(message));
    return MNL_CB_OK;
}

}  // namespace

Result<Netlink> Netlink::open(int family) {
    // Non-blocking: the complete answer is queued when the kernel has accepted the request.
    Netlink opened(::mnl_socket_open2(family, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!opened.socket_) return from_errno("open", "a netlink socket");
    if (::mnl_socket_bind(opened.socket_.get(), 0, MNL_SOCKET_AUTOPID) < 0) {
        return from_errno("bind", "a netlink socket");
    }
    const int fd = ::mnl_socket_get_fd(opened.socket_.get());
    ::setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &kSendBuffer, sizeof(kSendBuffer));
    return opened;
}

Result<> Netlink::filter_lists() {
    int on = 1;
    if (::mnl_socket_setsockopt(socket_.get(), NETLINK_GET_STRICT_CHK, &on, sizeof(on)) == 0) {
        return {};
    }
    return from_errno("set NETLINK_GET_STRICT_CHK of", "a netlink socket");
}

Result<Messages> Netlink::ask(std::string_view request, std::string_view doing) {
    if (::mnl_socket_sendto(socket_.get(), request.data(), request.size()) < 0) {
        return from_errno("netlink", doing);
    }
    Messages messages;
    std::string datagram(kDatagram, '\0');
    int problem = 0;  // the first one; the rest of the answer must leave the socket as well
    for (;;) {
        const ssize_t size = ::mnl_socket_recvfrom(socket_.get(), datagram.data(), datagram.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && errno != EAGAIN) return from_errno("netlink", doing);
        if (size <= 0) break;
        const int done =
            ::mnl_cb_run(datagram.data(), static_cast<std::size_t>(size), 0, 0, collect, &messages);
        if (done < 0 && problem == 0) problem = errno;
    }
    // EINTR: libmnl's word for an inconsistent list. ERESTART: nf_tables has another generation.
    if (problem == EINTR || problem == ERESTART) {
        return fail(Code::conflict,
                    fmt::format("{}: the kernel's tables changed meanwhile; retry", doing));
    }
    if (problem != 0) return from_errno("netlink", doing, problem);
    return messages;
}

}  // namespace kubexm::executor
