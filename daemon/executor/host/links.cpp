#include "daemon/executor/host/links.hpp"

#include <linux/rtnetlink.h>

#include "daemon/base/crash_point.hpp"
#include "daemon/executor/host/netlink.hpp"

namespace kubexm::executor {

namespace {

constexpr int kTries = 5;  // of a list that changes while it is read

}  // namespace

Result<std::vector<std::string>> list_links() {
    auto kernel = Netlink::open(NETLINK_ROUTE);
    if (!kernel) return std::unexpected(kernel.error());
    NetlinkRequest request;
    request.message(RTM_GETLINK, NLM_F_DUMP, ifinfomsg{});
    auto answer = kernel->ask(request, "listing links");
    for (int tries = 1; tries < kTries && !answer && answer.error().code == Code::conflict;
         ++tries) {
        answer = kernel->ask(request, "listing links");
    }
    if (!answer) return std::unexpected(answer.error());
    std::vector<std::string> names;
    for (const std::string& message : *answer) {
        names.push_back(NetlinkAttributes::of(message, sizeof(ifinfomsg)).text(IFLA_IFNAME));
    }
    return names;
}

Result<> delete_link(const std::string& name) {
    auto kernel = Netlink::open(NETLINK_ROUTE);
    if (!kernel) return std::unexpected(kernel.error());
    NetlinkRequest request;
    request.message(RTM_DELLINK, NLM_F_ACK, ifinfomsg{}).text(IFLA_IFNAME, name);
    crash_point("link.delete.before");
    auto done = kernel->ask(request, "deleting link " + name);
    crash_point("link.delete.after");
    if (!done && done.error().code != Code::not_found) return std::unexpected(done.error());
    return {};
}

}  // namespace kubexm::executor
