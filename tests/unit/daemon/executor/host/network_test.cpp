// Links, routes, packet filters and their sets in the kernel, in a network namespace.

#include <linux/netfilter/ipset/ip_set.h>
#include <linux/netfilter/nfnetlink.h>

#include <cstdio>
#include <cstdlib>

#include "daemon/executor/host/ip_sets.hpp"
#include "daemon/executor/host/kernel_routes.hpp"
#include "daemon/executor/host/links.hpp"
#include "daemon/executor/host/netlink.hpp"
#include "daemon/executor/host/packet_filter.hpp"
#include "tests/unit/daemon/executor/host/child.hpp"

namespace kubexm::executor {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kRules = R"(
table ip nat {
    chain KUBE-A { counter accept
    }
    chain output { type nat hook output priority -100; policy accept
        tcp dport 80 jump KUBE-A
        goto KUBE-A
    }
}
table ip6 filter {
    chain input { type filter hook input priority 0; policy drop
    }
}
table inet other {
    set addresses { type ipv4_addr; }
}
)";

void add_rules() {
    FILE* nft = ::popen("/usr/sbin/nft -f -", "w");
    ASSERT_NE(nft, nullptr);
    std::fputs(kRules, nft);
    ASSERT_EQ(::pclose(nft), 0);
}

/// In a child of the test.
bool succeeds(const char* command) {
    return std::system(command) == 0;  // NOLINT(concurrency-mt-unsafe): it has one thread
}

TEST(Links, ThatAreBridgesAreListed) {
    EXPECT_TRUE(passes_in_child([] {
        ASSERT_TRUE(enter_namespace(CLONE_NEWNET));
        EXPECT_THAT(list_bridges().value(), IsEmpty());
        ASSERT_TRUE(
            succeeds("ip link add br0 type bridge && "
                     "ip link add v0 type veth peer name v1 && ip link set v0 master br0"));
        EXPECT_THAT(list_bridges().value(), testing::ElementsAre("br0"));
    }));
}

TEST(Links, AreListedAndDeleted) {
    EXPECT_TRUE(passes_in_child([] {
        ASSERT_TRUE(enter_namespace(CLONE_NEWNET));
        EXPECT_THAT(list_links().value(), Contains("lo"));
        EXPECT_THAT(delete_link("absent"), IsOk());
        EXPECT_FALSE(delete_link("lo"));
        EXPECT_THAT(delete_link(std::string(5000, 'x')), IsError(Code::invalid, "link name"));
    }));
}

TEST(Routes, AreListedByProtocolAndLinkAndDeleted) {
    EXPECT_TRUE(passes_in_child([] {
        ASSERT_TRUE(enter_namespace(CLONE_NEWNET));
        ASSERT_TRUE(
            succeeds("ip link set lo up && ip link add br0 type bridge && ip link set br0 up && "
                     "ip route add 10.1.0.0/16 dev br0 proto 80 metric 5 && "
                     "ip route add blackhole 10.2.0.0/16 proto 80 table 99 && "
                     "ip -6 route add fd00:1::/64 dev br0 proto 80 && "
                     "ip route add 10.3.0.0/16 dev br0 && "
                     "ip route add 10.4.0.0/16 dev lo proto bird"));
        const auto found = list_routes(80, "").value();
        ASSERT_EQ(found.size(), 3U);
        EXPECT_EQ(found[0].name, "10.2.0.0/16 type 6 table 99 proto 80");
        EXPECT_EQ(found[1].name, "10.1.0.0/16 dev br0 metric 5 type 1 table 254 proto 80");
        EXPECT_THAT(found[2].name, testing::StartsWith("fd00:1::/64"));
        EXPECT_EQ(list_routes(80, "br0")->size(), 2U);
        EXPECT_THAT(list_routes(12, "br0").value(), IsEmpty());
        EXPECT_EQ(list_routes(12, "lo")->size(), 1U);
        EXPECT_THAT(list_routes(80, "absent").value(), IsEmpty());
        for (const KernelRoute& route : found) EXPECT_THAT(delete_route(route), IsOk());
        EXPECT_THAT(list_routes(80, "").value(), IsEmpty());
        EXPECT_THAT(delete_route(found[0]), IsOk()) << "absent";
        EXPECT_EQ(list_routes(3, "")->size(), 1U);
    }));
}

/// As "ipset create" does.
Result<> create_ip_set(const char* name) {
    auto kernel = Netlink::open(NETLINK_NETFILTER).value();
    NetlinkBuffer buffer{};
    nlmsghdr* request = ::mnl_nlmsg_put_header(buffer.data());
    request->nlmsg_type = (NFNL_SUBSYS_IPSET << 8U) | IPSET_CMD_CREATE;
    request->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    ::mnl_nlmsg_put_extra_header(request, sizeof(nfgenmsg));
    ::mnl_attr_put_u8(request, IPSET_ATTR_PROTOCOL, 6);
    ::mnl_attr_put_strz(request, IPSET_ATTR_SETNAME, name);
    ::mnl_attr_put_strz(request, IPSET_ATTR_TYPENAME, "hash:ip");
    ::mnl_attr_put_u8(request, IPSET_ATTR_REVISION, 0);
    ::mnl_attr_put_u8(request, IPSET_ATTR_FAMILY, AF_INET);
    ::mnl_attr_nest_end(request, ::mnl_attr_nest_start(request, IPSET_ATTR_DATA));
    const std::string_view bytes(buffer.data(), request->nlmsg_len);
    auto done = kernel.ask(bytes, "creating a set");
    if (!done) return std::unexpected(done.error());
    return {};
}

TEST(IpSets, AreListedAndDeleted) {
    const auto root = Root::open("/").value();
    if (inspect(root, "/sys/module/ip_set").value_or(PathState()).kind == PathKind::absent) {
        GTEST_SKIP() << "this kernel has not loaded ip_set";
    }
    EXPECT_TRUE(passes_in_child([&] {
        ASSERT_TRUE(enter_namespace(CLONE_NEWNET));
        EXPECT_THAT(list_ip_sets(root).value(), IsEmpty());
        ASSERT_THAT(create_ip_set("cali40a"), IsOk());
        ASSERT_THAT(create_ip_set("theirs"), IsOk());
        EXPECT_THAT(list_ip_sets(root).value(), testing::UnorderedElementsAre("cali40a", "theirs"));
        EXPECT_THAT(delete_ip_set("cali40a"), IsOk());
        EXPECT_THAT(delete_ip_set("cali40a"), IsOk()) << "absent";
        EXPECT_THAT(list_ip_sets(root).value(), ElementsAre("theirs"));
        EXPECT_THAT(delete_ip_set(std::string(5000, 'x')), IsError(Code::invalid, "name of a set"));
    }));
}

TEST(PacketFilter, HasTheCommentsOfIptables) {
    EXPECT_TRUE(passes_in_child([] {
        ASSERT_TRUE(enter_namespace(CLONE_NEWNET));
        ASSERT_TRUE(
            succeeds("iptables-nft -A INPUT -p tcp --dport 22 -m comment --comment "
                     "'by somebody' -j ACCEPT"));
        const Ruleset found = list_ruleset().value();
        ASSERT_EQ(found.rules.size(), 1U);
        EXPECT_EQ(found.rules[0].comment, "by somebody");
    }));
}

TEST(PacketFilter, IsListedAgainWhileItChanges) {
    int lists = 0;
    const auto until = [&](int consistent, Code code) {
        lists = 0;
        return until_consistent([&]() -> Result<int> {
            if (++lists >= consistent) return lists;
            return fail(code, "changed meanwhile");
        });
    };
    EXPECT_EQ(until(3, Code::conflict).value_or(0), 3);
    EXPECT_FALSE(until(100, Code::conflict));
    EXPECT_EQ(lists, 8);
    EXPECT_FALSE(until(100, Code::denied));
    EXPECT_EQ(lists, 1);
}

TEST(PacketFilter, IsListedAndRemovedInOneTransaction) {
    EXPECT_TRUE(passes_in_child([] {
        ASSERT_TRUE(enter_namespace(CLONE_NEWNET));
        add_rules();
        const Ruleset found = list_ruleset().value();
        EXPECT_THAT(found.tables, ElementsAre(FilterTable{"ip", "nat", 2},      //
                                              FilterTable{"ip6", "filter", 1},  //
                                              FilterTable{"inet", "other", 1}));
        EXPECT_THAT(found.chains, ElementsAre(FilterChain{"ip", "nat", "KUBE-A", false, false},
                                              FilterChain{"ip", "nat", "output", true, true},
                                              FilterChain{"ip6", "filter", "input", true, false}));
        ASSERT_EQ(found.rules.size(), 3U);
        EXPECT_EQ(found.rules[0].jump, "");
        EXPECT_EQ(found.rules[1].jump, "KUBE-A");
        EXPECT_EQ(found.rules[2].jump, "KUBE-A");

        Ruleset going{found.generation, {}, {found.chains[0]}, {found.rules[1]}};
        EXPECT_THAT(remove_from_filter(going), IsError(Code::conflict, "busy"));
        EXPECT_EQ(list_ruleset().value(), found);
        going.rules.push_back(found.rules[2]);
        ++going.generation;
        EXPECT_THAT(remove_from_filter(going), IsError(Code::conflict, "changed meanwhile"));
        EXPECT_EQ(list_ruleset().value(), found);
        --going.generation;
        EXPECT_THAT(remove_from_filter(going), IsOk());
        const Ruleset left = list_ruleset().value();
        EXPECT_THAT(left.chains, ElementsAre(found.chains[1], found.chains[2]));
        EXPECT_THAT(left.rules, IsEmpty());
        EXPECT_THAT(remove_from_filter({left.generation, left.tables, left.chains, {}}), IsOk());
        EXPECT_THAT(list_ruleset()->tables, IsEmpty());
    }));
}

}  // namespace
}  // namespace kubexm::executor
