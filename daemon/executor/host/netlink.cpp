#include "daemon/executor/host/netlink.hpp"

#include <arpa/inet.h>
#include <endian.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace kubexm::executor {

namespace {

constexpr std::size_t kDatagram = std::size_t{64} << 10U;  // the kernel fills no more
constexpr int kSendBuffer = 16 << 20;  // a change of the packet filter is one message to the socket

constexpr std::size_t aligned(std::size_t size) {
    constexpr std::size_t kBoundary = MNL_ALIGNTO;
    return (size + kBoundary - 1) / kBoundary * kBoundary;
}

/// What one datagram holds.
Result<> add_messages(std::string_view datagram, std::vector<std::string>& messages,
                      std::string_view doing) {
    int left = static_cast<int>(datagram.size());
    const auto* header = reinterpret_cast<const nlmsghdr*>(datagram.data());
    for (; ::mnl_nlmsg_ok(header, left); header = ::mnl_nlmsg_next(header, &left)) {
        if ((header->nlmsg_flags & NLM_F_DUMP_INTR) != 0) return fail(Code::conflict, "it changed");
        if (header->nlmsg_type == NLMSG_ERROR) {
            const auto* error = static_cast<const nlmsgerr*>(::mnl_nlmsg_get_payload(header));
            if (error->error == -ERESTART) return fail(Code::conflict, "it changed meanwhile");
            if (error->error != 0) return from_errno("netlink", doing, -error->error);
        } else if (header->nlmsg_type >= NLMSG_MIN_TYPE) {
            messages.emplace_back(reinterpret_cast<const char*>(header), header->nlmsg_len);
        }
    }
    return {};
}

}  // namespace

void NetlinkRequest::begin(std::uint16_t type, std::uint16_t flags, const void* header,
                           std::size_t size) {
    start_ = bytes_.size();
    const nlmsghdr head{.nlmsg_len = 0,
                        .nlmsg_type = type,
                        .nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags),
                        .nlmsg_seq = 0,
                        .nlmsg_pid = 0};
    bytes_.append(reinterpret_cast<const char*>(&head), sizeof(head));
    bytes_.append(static_cast<const char*>(header), size);
    end_message();
}

/// Where the message ends now, on a boundary.
void NetlinkRequest::end_message() {
    bytes_.resize(aligned(bytes_.size()), '\0');
    const auto length = static_cast<std::uint32_t>(bytes_.size() - start_);
    std::memcpy(bytes_.data() + start_, &length, sizeof(length));
}

void NetlinkRequest::attribute(std::uint16_t type, const void* value, std::size_t size) {
    const nlattr head{.nla_len = static_cast<std::uint16_t>(sizeof(nlattr) + size),
                      .nla_type = type};
    bytes_.append(reinterpret_cast<const char*>(&head), sizeof(head));
    bytes_.append(static_cast<const char*>(value), size);
    end_message();
}

NetlinkRequest& NetlinkRequest::text(std::uint16_t type, const std::string& value) {
    attribute(type, value.c_str(), value.size() + 1);
    return *this;
}

NetlinkRequest& NetlinkRequest::number(std::uint16_t type, std::uint32_t value) {
    const std::uint32_t swapped = ::htonl(value);
    attribute(type, &swapped, sizeof(swapped));
    return *this;
}

NetlinkRequest& NetlinkRequest::number(std::uint16_t type, std::uint64_t value) {
    const std::uint64_t swapped = htobe64(value);
    attribute(type, &swapped, sizeof(swapped));
    return *this;
}

NetlinkAttributes NetlinkAttributes::of(const std::string& message, std::size_t header) {
    const std::size_t start = std::min(message.size(), sizeof(nlmsghdr) + aligned(header));
    return {message.data() + start, message.size() - start};
}

std::vector<const nlattr*> NetlinkAttributes::all() const {
    std::vector<const nlattr*> found;
    const char* place = data_;
    const auto* each = reinterpret_cast<const nlattr*>(place);
    while (::mnl_attr_ok(each, static_cast<int>(data_ + size_ - place))) {
        found.push_back(each);
        each = ::mnl_attr_next(each);
        place = reinterpret_cast<const char*>(each);
    }
    return found;
}

const nlattr* NetlinkAttributes::find(std::uint16_t attribute) const {
    for (const nlattr* each : all()) {
        if (::mnl_attr_get_type(each) == attribute) return each;
    }
    return nullptr;
}

std::optional<NetlinkAttributes> NetlinkAttributes::below(std::uint16_t attribute) const {
    const nlattr* found = find(attribute);
    if (found == nullptr) return {};
    return NetlinkAttributes(::mnl_attr_get_payload(found), ::mnl_attr_get_payload_len(found));
}

std::vector<NetlinkAttributes> NetlinkAttributes::elements() const {
    std::vector<NetlinkAttributes> found;
    for (const nlattr* each : all()) {
        found.push_back({::mnl_attr_get_payload(each), ::mnl_attr_get_payload_len(each)});
    }
    return found;
}

std::string NetlinkAttributes::text(std::uint16_t attribute) const {
    const nlattr* found = find(attribute);
    if (found == nullptr) return {};
    const auto* start = static_cast<const char*>(::mnl_attr_get_payload(found));
    return {start, ::strnlen(start, ::mnl_attr_get_payload_len(found))};
}

std::uint32_t NetlinkAttributes::u32(std::uint16_t attribute) const {
    const nlattr* found = find(attribute);
    const bool right =
        found != nullptr && ::mnl_attr_get_payload_len(found) == sizeof(std::uint32_t);
    return right ? ::ntohl(::mnl_attr_get_u32(found)) : 0;
}

std::uint64_t NetlinkAttributes::u64(std::uint16_t attribute) const {
    const nlattr* found = find(attribute);
    const bool right =
        found != nullptr && ::mnl_attr_get_payload_len(found) == sizeof(std::uint64_t);
    return right ? be64toh(::mnl_attr_get_u64(found)) : 0;
}

Result<Netlink> Netlink::open(int family) {
    // Not blocking: the kernel has answered when it has taken the request.
    Netlink opened(::mnl_socket_open2(family, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!opened.socket_) return from_errno("open", "a netlink socket");
    if (::mnl_socket_bind(opened.socket_.get(), 0, MNL_SOCKET_AUTOPID) < 0) {
        return from_errno("bind", "a netlink socket");
    }
    const int fd = ::mnl_socket_get_fd(opened.socket_.get());
    ::setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &kSendBuffer, sizeof(kSendBuffer));
    return opened;
}

Result<std::vector<std::string>> Netlink::ask(const NetlinkRequest& request,
                                              std::string_view doing) {
    const std::string& bytes = request.bytes();
    if (::mnl_socket_sendto(socket_.get(), bytes.data(), bytes.size()) < 0) {
        return from_errno("netlink", doing);
    }
    std::vector<std::string> messages;
    std::string datagram(kDatagram, '\0');
    Result<> outcome;
    for (;;) {
        const ssize_t size = ::mnl_socket_recvfrom(socket_.get(), datagram.data(), datagram.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && errno != EAGAIN) return from_errno("netlink", doing);
        if (size <= 0) break;
        const std::string_view taken(datagram.data(), static_cast<std::size_t>(size));
        auto added = add_messages(taken, messages, doing);
        if (outcome) outcome = added;  // the first error says why; the rest is read all the same
    }
    if (!outcome) return std::unexpected(outcome.error());
    return messages;
}

}  // namespace kubexm::executor
