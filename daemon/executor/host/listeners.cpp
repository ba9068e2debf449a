#include "daemon/executor/host/listeners.hpp"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>

#include <algorithm>

#include "daemon/base/try.hpp"
#include "daemon/executor/host/netlink.hpp"

namespace kubexm::executor {

namespace {

/// The kernel's answer: one message for each listener.
Result<std::vector<std::string>> listeners_of(int family) {
    auto kernel = TRY(Netlink::open(NETLINK_SOCK_DIAG));
    NetlinkBuffer buffer{};
    nlmsghdr* request = ::mnl_nlmsg_put_header(buffer.data());
    request->nlmsg_type = SOCK_DIAG_BY_FAMILY;
    request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    auto* wanted = static_cast<inet_diag_req_v2*>(
        ::mnl_nlmsg_put_extra_header(request, sizeof(inet_diag_req_v2)));
    wanted->sdiag_family = static_cast<std::uint8_t>(family);
    wanted->sdiag_protocol = IPPROTO_TCP;
    wanted->idiag_states = 1U << TCP_LISTEN;
    return kernel.ask(bytes_of(request), "listing TCP listeners");
}

std::uint16_t port_in(const std::string& message) {
    const auto* header = reinterpret_cast<const nlmsghdr*>(message.data());
    if (::mnl_nlmsg_get_payload_len(header) < sizeof(inet_diag_msg)) return 0;
    const auto* listener = static_cast<const inet_diag_msg*>(::mnl_nlmsg_get_payload(header));
    return ntohs(listener->id.idiag_sport);
}

}  // namespace

Result<bool> has_listener(std::uint16_t port) {
    for (const int family : {AF_INET, AF_INET6}) {
        const auto listeners = TRY(listeners_of(family));
        if (std::ranges::find(listeners, port, port_in) != listeners.end()) return true;
    }
    return false;
}

}  // namespace kubexm::executor
