// Links and packet filters of the kernel, in a network namespace.

#include <cstdio>

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
table inet other { }
)";

void add_rules() {
    FILE* nft = ::popen("/usr/sbin/nft -f -", "w");
    ASSERT_NE(nft, nullptr);
    std::fputs(kRules, nft);
    ASSERT_EQ(::pclose(nft), 0);
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
        EXPECT_THAT(found.tables, ElementsAre(FilterTable{"ip", "nat", 2},  //
                                              FilterTable{"ip6", "filter", 1}));
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
