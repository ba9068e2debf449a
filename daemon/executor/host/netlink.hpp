#pragma once

#include <libmnl/libmnl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"

// Private to the module: requests to the kernel over netlink.

namespace kubexm::executor {

/// Space for one request. libmnl does not check it: names of links and of parts of the packet
/// filter have at most 255 bytes.
using NetlinkBuffer = std::array<char, 4096>;

inline std::string_view bytes_of(const nlmsghdr* message) {
    return {reinterpret_cast<const char*>(message), message->nlmsg_len};
}

/// `offset`: the size of the header before the attributes, such as rtmsg.
template <typename Visit>
void for_each_attribute(const nlmsghdr* message, std::uint32_t offset, Visit visit) {
    const auto call = [](const nlattr* attribute, void* visitor) {
        (*static_cast<Visit*>(visitor))(attribute);
        return MNL_CB_OK;
    };
    ::mnl_attr_parse(message, offset, call, &visit);
}

class Netlink {
public:
    /// `family` as for socket(): NETLINK_ROUTE, NETLINK_NETFILTER.
    static Result<Netlink> open(int family);

    /// The kernel applies the members of a request for a list as filters. From Linux 4.20.
    Result<> filter_lists();

    /// Sends one or more messages and returns the messages of the answer. conflict: the kernel's
    /// tables changed during the request. Other errors are the kernel's; `doing` is their context.
    Result<std::vector<std::string>> ask(std::string_view request, std::string_view doing);

private:
    struct Close {
        void operator()(mnl_socket* socket) const { ::mnl_socket_close(socket); }
    };
    explicit Netlink(mnl_socket* socket) : socket_(socket) {}

    std::unique_ptr<mnl_socket, Close> socket_;
};

/// Lists again while the kernel's tables change, a few times: other programs change them for a
/// moment only.
template <typename List>
auto until_consistent(List list) {
    constexpr int kMostTries = 8;
    auto found = list();
    for (int tries = 1; tries < kMostTries; ++tries) {
        if (found || found.error().code != Code::conflict) break;
        found = list();
    }
    return found;
}

}  // namespace kubexm::executor
