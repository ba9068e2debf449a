#include "daemon/executor/host/ip_sets.hpp"

#include <arpa/inet.h>
#include <linux/netfilter/ipset/ip_set.h>
#include <linux/netfilter/nfnetlink.h>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/host/netlink.hpp"

namespace kubexm::executor {

namespace {

constexpr std::uint8_t kProtocol = 6;  // of every kernel since 2.6.39; 7 only adds commands

nlmsghdr* request_for(NetlinkBuffer& buffer, ipset_cmd command, std::uint16_t flags) {
    nlmsghdr* request = ::mnl_nlmsg_put_header(buffer.data());
    request->nlmsg_type = static_cast<std::uint16_t>((NFNL_SUBSYS_IPSET << 8U) | command);
    request->nlmsg_flags = NLM_F_REQUEST | flags;
    auto* family = static_cast<nfgenmsg*>(::mnl_nlmsg_put_extra_header(request, sizeof(nfgenmsg)));
    *family = {.nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0, .res_id = 0};
    ::mnl_attr_put_u8(request, IPSET_ATTR_PROTOCOL, kProtocol);
    return request;
}

std::string name_in(const std::string& message) {
    std::string name;
    const auto take = [&](const nlattr* attribute) {
        if (::mnl_attr_get_type(attribute) != IPSET_ATTR_SETNAME) return;
        if (::mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) < 0) return;
        name = ::mnl_attr_get_str(attribute);
    };
    for_each_attribute(reinterpret_cast<const nlmsghdr*>(message.data()), sizeof(nfgenmsg), take);
    return name;
}

Result<std::vector<std::string>> list_once() {
    auto kernel = TRY(Netlink::open(NETLINK_NETFILTER));
    NetlinkBuffer buffer{};
    nlmsghdr* request = request_for(buffer, IPSET_CMD_LIST, NLM_F_DUMP);
    ::mnl_attr_put_u32(request, IPSET_ATTR_FLAGS | NLA_F_NET_BYTEORDER,
                       ::htonl(IPSET_FLAG_LIST_SETNAME));
    const auto answer = TRY(kernel.ask(bytes_of(request), "listing sets of ipset"));
    std::vector<std::string> names;
    names.reserve(answer.size());
    for (const std::string& each : answer) names.push_back(name_in(each));
    return names;
}

}  // namespace

Result<std::vector<std::string>> list_ip_sets(const Root& root) {
    // A question to a kernel without ipset would make it load the module.
    const auto module = inspect(root, "/sys/module/ip_set");
    if (!module || module->kind == PathKind::absent) return std::vector<std::string>();
    return until_consistent(list_once);
}

Result<> delete_ip_set(const std::string& name) {
    auto kernel = TRY(Netlink::open(NETLINK_NETFILTER));
    NetlinkBuffer buffer{};
    nlmsghdr* request = request_for(buffer, IPSET_CMD_DESTROY, NLM_F_ACK);
    if (!::mnl_attr_put_strz_check(request, buffer.size(), IPSET_ATTR_SETNAME, name.c_str())) {
        return fail(Code::invalid, "name of a set: expected at most 31 bytes");
    }
    crash_point("set.delete.before");
    auto done = kernel.ask(bytes_of(request), "deleting set " + name);
    crash_point("set.delete.after");
    if (!done && done.error().code != Code::not_found) return std::unexpected(done.error());
    return {};
}

}  // namespace kubexm::executor
