#include "daemon/executor/steps/new_objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kubexm::executor::new_objects {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

FilterChain base(const std::string& table, const std::string& name, bool accepts = true) {
    return {"ip", table, name, true, accepts};
}
FilterChain chain(const std::string& table, const std::string& name) {
    return {"ip", table, name, false, false};
}
FilterRule rule(const FilterChain& in, std::uint64_t handle, const std::string& jump = "") {
    return {in.family, in.table, in.name, handle, jump};
}

/// The rules that kubelet and a pod add to a host without rules.
Ruleset after_kubelet() {
    const auto firewall = chain("filter", "KUBE-FIREWALL");
    return {.generation = 7,
            .tables = {{"ip", "filter", 3}, {"ip", "nat", 2}},
            .chains = {base("filter", "INPUT"), base("filter", "OUTPUT"), firewall,
                       base("nat", "POSTROUTING"), chain("nat", "KUBE-KUBELET-CANARY")},
            .rules = {rule(base("filter", "INPUT"), 4, "KUBE-FIREWALL"),
                      rule(base("filter", "OUTPUT"), 5, "KUBE-FIREWALL"), rule(firewall, 6)}};
}

std::vector<std::string> chains_of(const Ruleset& ruleset) {
    std::vector<std::string> names;
    names.reserve(ruleset.chains.size());
    for (const FilterChain& each : ruleset.chains) names.push_back(each.table + " " + each.name);
    return names;
}

TEST(NewObjects, IncludeNewLinksOfTheAllowList) {
    EXPECT_THAT(links({"lo", "eth0", "cni0", "flannel.1", "tun0"}, {"lo", "eth0", "flannel.1"},
                      {"cni0", "flannel.1"}),
                ElementsAre("cni0"));
}

TEST(NewObjects, ListSlicesOfPodsOuterOnesFirst) {
    const Names now = {
        "kubepods-besteffort-pod1.slice", "kubepods-besteffort.slice", "kubepods.slice",
        "kubepodsinabox.slice",           "kubepods-x.service",        "system.slice"};
    EXPECT_THAT(slices(now, {}), ElementsAre("kubepods.slice", "kubepods-besteffort.slice",
                                             "kubepods-besteffort-pod1.slice"));
    EXPECT_THAT(slices(now, now), IsEmpty());
}

TEST(NewObjects, AreAllRulesOfAHostThatHadNone) {
    const Ruleset going = filters(after_kubelet(), {});
    EXPECT_EQ(going.generation, 7U);
    EXPECT_EQ(going.tables, after_kubelet().tables);
    EXPECT_EQ(going.chains.size(), 5U);
    EXPECT_EQ(going.rules.size(), 2U);
    EXPECT_EQ(filters({}, {}), Ruleset{});
}

TEST(NewObjects, ExcludeRulesThatExistedBefore) {
    const Ruleset now = after_kubelet();
    const Ruleset going = filters(now, names_of(now));
    EXPECT_THAT(going.tables, IsEmpty());
    EXPECT_THAT(going.chains, IsEmpty());
    EXPECT_THAT(going.rules, IsEmpty());
}

TEST(NewObjects, AnOldTableKeepsWhatItHad) {
    const Ruleset going = filters(after_kubelet(), {"ip filter", "ip filter INPUT"});
    EXPECT_THAT(going.tables, ElementsAre(FilterTable{"ip", "nat", 2}));
    EXPECT_THAT(chains_of(going),
                UnorderedElementsAre("filter OUTPUT", "filter KUBE-FIREWALL", "nat POSTROUTING",
                                     "nat KUBE-KUBELET-CANARY"));
    EXPECT_EQ(going.rules.size(), 2U) << "both jumps, although INPUT stays";
}

TEST(NewObjects, AForeignRuleKeepsItsChainAndTable) {
    Ruleset now = after_kubelet();
    now.rules.push_back(rule(base("filter", "INPUT"), 9));
    const Ruleset going = filters(now, {});
    EXPECT_THAT(going.tables, ElementsAre(FilterTable{"ip", "nat", 2}));
    EXPECT_THAT(chains_of(going),
                UnorderedElementsAre("filter OUTPUT", "filter KUBE-FIREWALL", "nat POSTROUTING",
                                     "nat KUBE-KUBELET-CANARY"));
}

TEST(NewObjects, ASetKeepsItsTable) {
    Ruleset now = after_kubelet();
    now.tables[1].uses = 3;
    EXPECT_THAT(filters(now, {}).tables, ElementsAre(FilterTable{"ip", "filter", 3}));
}

TEST(NewObjects, ExcludeRulesOfOtherOwners) {
    Ruleset now = after_kubelet();
    now.tables.push_back({"ip", "theirs", 0});
    now.tables.push_back({"ip", "raw", 1});
    now.chains.push_back(
        base("raw", "PREROUTING", false));  // its policy is drop: not made by iptables itself
    now.chains.push_back(base("filter", "their-input"));
    now.chains.push_back(chain("nat", "KUBE"));
    now.chains.push_back({"ip", "nat", "KUBE-HOOK", true, true});
    const Ruleset going = filters(now, {});
    EXPECT_EQ(chains_of(going).size(), 5U);
    EXPECT_THAT(going.tables,
                ElementsAre(FilterTable{"ip", "filter", 3}, FilterTable{"ip", "nat", 2}));
}

TEST(NewObjects, AChainOfTheSameNameInTheOtherFamilyIsAnother) {
    Ruleset now = after_kubelet();
    now.tables.push_back({"ip6", "nat", 1});
    now.chains.push_back({"ip6", "nat", "KUBE-KUBELET-CANARY", false, false});
    const Ruleset going =
        filters(now, {"ip nat", "ip nat POSTROUTING", "ip nat KUBE-KUBELET-CANARY"});
    EXPECT_THAT(going.tables,
                UnorderedElementsAre(FilterTable{"ip", "filter", 3}, FilterTable{"ip6", "nat", 1}));
}

}  // namespace
}  // namespace kubexm::executor::new_objects
