#include "daemon/executor/wire/channel.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "daemon/base/try.hpp"
#include "daemon/base/unix_address.hpp"
#include "daemon/executor/wire/messages.hpp"

namespace kubexm::wire {

namespace {

constexpr std::size_t kControlBytes = CMSG_SPACE(sizeof(int) * kMaxDescriptors);

/// The received descriptors, owned before a later check can fail.
std::vector<Fd> take_descriptors(msghdr& header) {
    std::vector<Fd> taken;
    for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr;
         part = CMSG_NXTHDR(&header, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int number = -1;
            std::memcpy(&number, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
            taken.emplace_back(number);
        }
    }
    return taken;
}

}  // namespace

Result<Channel> Channel::connect(const std::string& path) {
    const sockaddr_un address = TRY(unix_address(path));
    Fd socket{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!socket) return from_errno("socket", path);
    const auto* target = reinterpret_cast<const sockaddr*>(&address);
    if (::connect(socket.get(), target, sizeof(address)) != 0) return from_errno("connect", path);
    return Channel(std::move(socket));
}

Result<Peer> Channel::peer() const {
    ucred credentials{};
    socklen_t size = sizeof(credentials);
    if (::getsockopt(fd(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
        return from_errno("getsockopt", "SO_PEERCRED");
    }
    return Peer{credentials.uid, credentials.gid, credentials.pid};
}

Result<> Channel::wait_for(short events, Deadline deadline) const {
    using std::chrono::ceil, std::chrono::milliseconds;
    for (;;) {
        const auto left = ceil<milliseconds>(deadline - std::chrono::steady_clock::now()).count();
        pollfd entry{.fd = fd(), .events = events, .revents = 0};
        const int ready = ::poll(&entry, 1, static_cast<int>(std::clamp<long>(left, 0, 3'600'000)));
        if (ready > 0) return {};
        if (ready == 0) {
            return fail(Code::timeout, "socket: the peer did not respond before the deadline");
        }
        if (errno != EINTR) return from_errno("poll", "socket");
    }
}

Result<> Channel::send(std::string_view text, std::span<const int> descriptors, Deadline deadline) {
    if (text.size() > kMaxFrame || descriptors.size() > kMaxDescriptors) {
        return fail(Code::invalid,
                    fmt::format("message: expected at most {} bytes and {} descriptors, found {} "
                                "and {}",
                                kMaxFrame, kMaxDescriptors, text.size(), descriptors.size()));
    }
    iovec bytes{.iov_base = const_cast<char*>(text.data()), .iov_len = text.size()};
    msghdr header{};
    header.msg_iov = &bytes;
    header.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, kControlBytes> control{};
    if (!descriptors.empty()) {
        header.msg_control = control.data();
        header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
        cmsghdr* part = CMSG_FIRSTHDR(&header);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
        std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size_bytes());
    }
    for (;;) {
        if (::sendmsg(fd(), &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return {};
        if (errno == EINTR) continue;
        if (errno != EAGAIN) return from_errno("send", "message");
        TRY(wait_for(POLLOUT, deadline));
    }
}

Result<Frame> Channel::receive(Deadline deadline) {
    Frame frame;
    frame.text.resize(kMaxFrame + 1);
    iovec bytes{.iov_base = frame.text.data(), .iov_len = frame.text.size()};
    alignas(cmsghdr) std::array<char, kControlBytes> control{};
    msghdr header{};
    ssize_t size = -1;
    for (;;) {
        header = {};
        header.msg_iov = &bytes;
        header.msg_iovlen = 1;
        header.msg_control = control.data();
        header.msg_controllen = control.size();
        size = ::recvmsg(fd(), &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        if (size >= 0) break;
        // ECONNRESET is reported once if the peer closed with unread data; its frames remain.
        if (errno == EINTR || errno == ECONNRESET) continue;
        if (errno != EAGAIN) return from_errno("receive", "message");
        TRY(wait_for(POLLIN, deadline));
    }
    frame.descriptors = take_descriptors(header);
    if (size == 0) return fail(Code::unavailable, "socket: the peer closed the connection");
    if ((header.msg_flags & MSG_TRUNC) != 0) {
        return fail(Code::invalid, fmt::format("frame: more than {} bytes", kMaxFrame));
    }
    if ((header.msg_flags & MSG_CTRUNC) != 0) {
        return fail(Code::invalid, fmt::format("frame: more than {} descriptors", kMaxDescriptors));
    }
    frame.text.resize(static_cast<std::size_t>(size));
    return frame;
}

}  // namespace kubexm::wire
