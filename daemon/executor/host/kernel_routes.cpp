#include "daemon/executor/host/kernel_routes.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <array>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/host/netlink.hpp"

namespace kubexm::executor {

namespace {

std::string address_in(const nlattr* attribute, int family) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const std::size_t size = family == AF_INET ? sizeof(in_addr) : sizeof(in6_addr);
    if (::mnl_attr_get_payload_len(attribute) < size) return "?";
    ::inet_ntop(family, ::mnl_attr_get_payload(attribute), text.data(), text.size());
    return text.data();
}

std::string link_in(const nlattr* attribute) {
    std::array<char, IF_NAMESIZE> name{};
    const std::uint32_t index = ::mnl_attr_get_u32(attribute);
    if (::if_indextoname(index, name.data()) == nullptr) return std::to_string(index);
    return name.data();
}

/// The members that tell routes apart, as `ip route` shows them. Always in the same order: the
/// ledger keeps the name, and the next kernel may list them in another one.
std::string name_of(const nlmsghdr* message) {
    const auto* route = static_cast<const rtmsg*>(::mnl_nlmsg_get_payload(message));
    std::string to = "default";
    std::string via;
    std::string link;
    std::string metric;
    std::uint32_t table = route->rtm_table;
    for_each_attribute(message, sizeof(rtmsg), [&](const nlattr* attribute) {
        const int type = ::mnl_attr_get_type(attribute);
        if (type == RTA_DST) {
            to = fmt::format("{}/{}", address_in(attribute, route->rtm_family), route->rtm_dst_len);
        }
        if (type == RTA_GATEWAY) via = " via " + address_in(attribute, route->rtm_family);
        if (type == RTA_OIF) link = " dev " + link_in(attribute);
        if (type == RTA_PRIORITY) metric = fmt::format(" metric {}", ::mnl_attr_get_u32(attribute));
        if (type == RTA_TABLE) table = ::mnl_attr_get_u32(attribute);
    });
    return fmt::format("{}{}{}{} type {} table {} proto {}", to, via, link, metric, route->rtm_type,
                       table, route->rtm_protocol);
}

Result<std::vector<std::string>> dump(int family, std::uint8_t protocol, std::uint32_t link) {
    auto kernel = TRY(Netlink::open(NETLINK_ROUTE));
    TRY(kernel.filter_lists());
    NetlinkBuffer buffer{};
    nlmsghdr* request = ::mnl_nlmsg_put_header(buffer.data());
    request->nlmsg_type = RTM_GETROUTE;
    request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    auto* wanted = static_cast<rtmsg*>(::mnl_nlmsg_put_extra_header(request, sizeof(rtmsg)));
    wanted->rtm_family = static_cast<std::uint8_t>(family);
    wanted->rtm_protocol = protocol;
    if (link != 0) ::mnl_attr_put_u32(request, RTA_OIF, link);
    return kernel.ask(bytes_of(request), "listing routes");
}

}  // namespace

Result<std::vector<KernelRoute>> list_routes(std::uint8_t protocol, const std::string& link) {
    const std::uint32_t index = link.empty() ? 0 : ::if_nametoindex(link.c_str());
    std::vector<KernelRoute> routes;
    if (index == 0 && !link.empty()) return routes;
    for (const int family : {AF_INET, AF_INET6}) {
        const auto found = TRY(until_consistent([&] { return dump(family, protocol, index); }));
        for (const std::string& each : found) {
            routes.push_back({name_of(reinterpret_cast<const nlmsghdr*>(each.data())), each});
        }
    }
    return routes;
}

Result<> delete_route(const KernelRoute& route) {
    auto kernel = TRY(Netlink::open(NETLINK_ROUTE));
    std::string request = route.message;
    auto* header = reinterpret_cast<nlmsghdr*>(request.data());
    header->nlmsg_type = RTM_DELROUTE;
    header->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    header->nlmsg_pid = 0;
    crash_point("route.delete.before");
    auto done = kernel.ask(request, "deleting route " + route.name);
    crash_point("route.delete.after");
    if (!done && done.error().code != Code::not_found) return std::unexpected(done.error());
    return {};
}

}  // namespace kubexm::executor
