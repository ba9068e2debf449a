#include "daemon/executor/host/links.hpp"

#include <linux/rtnetlink.h>
#include <net/if.h>

#include <memory>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/host/netlink.hpp"

namespace kubexm::executor {

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
    nlmsghdr* request = ::mnl_nlmsg_put_header(buffer.data());
    request->nlmsg_type = RTM_DELLINK;
    request->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    ::mnl_nlmsg_put_extra_header(request, sizeof(ifinfomsg));
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
