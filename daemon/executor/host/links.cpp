#include "daemon/executor/host/links.hpp"

#include <linux/rtnetlink.h>
#include <net/if.h>

#include <memory>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/host/netlink.hpp"

namespace kubexm::executor {

namespace {

std::string kind_of_link(const nlattr* about) {
    std::string kind;
    const auto read = [](const nlattr* attribute, void* to) {
        if (::mnl_attr_get_type(attribute) == IFLA_INFO_KIND) {
            *static_cast<std::string*>(to) = ::mnl_attr_get_str(attribute);
        }
        return MNL_CB_OK;
    };
    ::mnl_attr_parse_nested(about, read, &kind);
    return kind;
}

struct Link {
    std::string name;
    std::string kind;
};

Link described(const nlmsghdr* message) {
    Link link;
    for_each_attribute(message, sizeof(ifinfomsg), [&](const nlattr* attribute) {
        const int type = ::mnl_attr_get_type(attribute);
        if (type == IFLA_IFNAME) link.name = ::mnl_attr_get_str(attribute);
        if (type == IFLA_LINKINFO) link.kind = kind_of_link(attribute);
    });
    return link;
}

nlmsghdr* link_request(NetlinkBuffer& buffer, std::uint16_t type, std::uint16_t flag) {
    nlmsghdr* request = ::mnl_nlmsg_put_header(buffer.data());
    request->nlmsg_type = type;
    request->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flag);
    ::mnl_nlmsg_put_extra_header(request, sizeof(ifinfomsg));
    return request;
}

Result<std::vector<std::string>> dump_links() {
    auto kernel = TRY(Netlink::open(NETLINK_ROUTE));
    NetlinkBuffer buffer{};
    const nlmsghdr* request = link_request(buffer, RTM_GETLINK, NLM_F_DUMP);
    return kernel.ask(bytes_of(request), "listing links");
}

}  // namespace

Result<std::vector<std::string>> list_bridges() {
    const auto messages = TRY(until_consistent(dump_links));
    std::vector<std::string> names;
    for (const std::string& each : messages) {
        Link link = described(reinterpret_cast<const nlmsghdr*>(each.data()));
        if (link.kind == "bridge") names.push_back(std::move(link.name));
    }
    return names;
}

Result<std::vector<std::string>> list_links() {
    const std::unique_ptr<struct if_nameindex[], decltype(&::if_freenameindex)> links(
        ::if_nameindex(), ::if_freenameindex);
    if (!links) return from_errno("list", "network links");
    std::vector<std::string> names;
    for (std::size_t i = 0; links[i].if_name != nullptr; ++i) names.emplace_back(links[i].if_name);
    return names;
}

Result<> delete_link(const std::string& name) {
    auto kernel = TRY(Netlink::open(NETLINK_ROUTE));
    NetlinkBuffer buffer{};
    nlmsghdr* request = link_request(buffer, RTM_DELLINK, NLM_F_ACK);
    if (!::mnl_attr_put_strz_check(request, buffer.size(), IFLA_IFNAME, name.c_str())) {
        return fail(Code::invalid, "link name: expected at most 15 bytes");
    }
    crash_point("link.delete.before");
    auto done = kernel.ask(bytes_of(request), "deleting link " + name);
    crash_point("link.delete.after");
    if (!done && done.error().code != Code::not_found) return std::unexpected(done.error());
    return {};
}

}  // namespace kubexm::executor
