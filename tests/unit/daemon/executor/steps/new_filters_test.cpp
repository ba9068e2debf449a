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
    return {in.family, in.table, in.name, handle, jump, ""};
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

const families::Patterns& known() {
    static const auto patterns = families::known().value();
    return patterns;
}

Ruleset going_of(const Ruleset& now, const ObjectNames& before) {
    return filters(now, before, known());
}

TEST(NewFilters, AreAllRulesOfAHostThatHadNone) {
    const Ruleset going = going_of(after_kubelet(), {});
    EXPECT_EQ(going.generation, 7U);
    EXPECT_EQ(going.tables, after_kubelet().tables);
    EXPECT_EQ(going.chains.size(), 5U);
    EXPECT_EQ(going.rules.size(), 2U);
    EXPECT_EQ(going_of({}, {}), Ruleset{});
}

TEST(NewFilters, ExcludeRulesThatExistedBefore) {
    const Ruleset now = after_kubelet();
    const Ruleset going = going_of(now, names_of(now, known()));
    EXPECT_THAT(going.tables, IsEmpty());
    EXPECT_THAT(going.chains, IsEmpty());
    EXPECT_THAT(going.rules, IsEmpty());
}

TEST(NewFilters, AnOldTableKeepsWhatItHad) {
    const Ruleset going = going_of(after_kubelet(), {"ip filter", "ip filter INPUT"});
    EXPECT_THAT(going.tables, ElementsAre(FilterTable{"ip", "nat", 2}));
    EXPECT_THAT(chains_of(going),
                UnorderedElementsAre("filter OUTPUT", "filter KUBE-FIREWALL", "nat POSTROUTING",
                                     "nat KUBE-KUBELET-CANARY"));
    EXPECT_EQ(going.rules.size(), 2U) << "both jumps, although INPUT stays";
}

TEST(NewFilters, AForeignRuleKeepsItsChainAndTable) {
    Ruleset now = after_kubelet();
    now.rules.push_back(rule(base("filter", "INPUT"), 9));
    const Ruleset going = going_of(now, {});
    EXPECT_THAT(going.tables, ElementsAre(FilterTable{"ip", "nat", 2}));
    EXPECT_THAT(chains_of(going),
                UnorderedElementsAre("filter OUTPUT", "filter KUBE-FIREWALL", "nat POSTROUTING",
                                     "nat KUBE-KUBELET-CANARY"));
}

TEST(NewFilters, ASetKeepsItsTable) {
    Ruleset now = after_kubelet();
    now.tables[1].uses = 3;
    EXPECT_THAT(going_of(now, {}).tables, ElementsAre(FilterTable{"ip", "filter", 3}));
}

TEST(NewFilters, ExcludeRulesOfOtherOwners) {
    Ruleset now = after_kubelet();
    now.tables.push_back({"ip", "theirs", 0});
    now.tables.push_back({"ip", "raw", 1});
    now.chains.push_back(
        base("raw", "PREROUTING", false));  // its policy is drop: not made by iptables itself
    now.chains.push_back(base("filter", "their-input"));
    now.chains.push_back(chain("nat", "KUBE"));
    now.chains.push_back({"ip", "nat", "KUBE-HOOK", true, true});
    const Ruleset going = going_of(now, {});
    EXPECT_EQ(chains_of(going).size(), 5U);
    EXPECT_THAT(going.tables,
                ElementsAre(FilterTable{"ip", "filter", 3}, FilterTable{"ip", "nat", 2}));
}

TEST(NewFilters, AChainOfTheSameNameInTheOtherFamilyIsAnother) {
    Ruleset now = after_kubelet();
    now.tables.push_back({"ip6", "nat", 1});
    now.chains.push_back({"ip6", "nat", "KUBE-KUBELET-CANARY", false, false});
    const Ruleset going =
        going_of(now, {"ip nat", "ip nat POSTROUTING", "ip nat KUBE-KUBELET-CANARY"});
    EXPECT_THAT(going.tables,
                UnorderedElementsAre(FilterTable{"ip", "filter", 3}, FilterTable{"ip6", "nat", 1}));
}

FilterRule commented(FilterRule rule, const std::string& comment) {
    rule.comment = comment;
    return rule;
}

TEST(NewFilters, AreTablesOfFamiliesWithAllThatIsInThem) {
    const Ruleset now{.generation = 1,
                      .tables = {{"ip", "kube-proxy", 40}, {"inet", "netavark", 3}},
                      .chains = {{"ip", "kube-proxy", "services", false, false},
                                 {"inet", "netavark", "INPUT", true, true}},
                      .rules = {}};
    const Ruleset going = going_of(now, {});
    EXPECT_THAT(going.tables, ElementsAre(FilterTable{"ip", "kube-proxy", 40}));
    EXPECT_THAT(going.chains, IsEmpty());
    EXPECT_THAT(staying_filters(now, {}, going), ElementsAre("inet netavark"));
    EXPECT_THAT(going_of(now, {"ip kube-proxy", "ip kube-proxy services"}).tables, IsEmpty());
}

TEST(NewFilters, AreCommentedRulesInChainsOfOthers) {
    const auto input = base("raw", "PREROUTING");
    const std::string comment = "NodeLocal DNS Cache: skip conntrack";
    Ruleset now{.generation = 1,
                .tables = {{"ip", "raw", 1}},
                .chains = {input},
                .rules = {commented(rule(input, 3), comment), commented(rule(input, 4), "ssh")}};
    const ObjectNames before{"ip raw", "ip raw PREROUTING"};
    EXPECT_THAT(going_of(now, before).rules, ElementsAre(now.rules[0]));
    EXPECT_THAT(going_of(now, names_of(now, known())).rules, IsEmpty())
        << "one with this comment was there before";
    now.rules.pop_back();
    EXPECT_THAT(going_of(now, {}).tables, ElementsAre(now.tables[0]));
}

/// Podman's port 8080, and that of a pod, with the chains that both use.
TEST(NewFilters, ExcludeTheChainsOfPodmanAndWhatTheyLeadTo) {
    const auto post = base("nat", "POSTROUTING");
    const auto all = chain("nat", "CNI-HOSTPORT-DNAT");
    const auto theirs = chain("nat", "CNI-DN-1");
    const auto mark = chain("nat", "CNI-HOSTPORT-SETMARK");
    const auto masquerade = chain("nat", "CNI-2");
    const auto pod = chain("nat", "CNI-3");
    const Ruleset now{
        .generation = 1,
        .tables = {{"ip", "nat", 6}},
        .chains = {post, all, theirs, mark, masquerade, pod},
        .rules = {commented(rule(all, 1, theirs.name), "dnat name: \"podman\" id: \"1\""),
                  rule(theirs, 2, mark.name), rule(mark, 3),
                  commented(rule(post, 4, masquerade.name), "name: \"podman\" id: \"1\""),
                  commented(rule(post, 5, pod.name), "name: \"pods\" id: \"2\"")}};
    const Ruleset going = going_of(now, {});
    EXPECT_THAT(chains_of(going), ElementsAre("nat CNI-3"));
    EXPECT_THAT(going.rules, ElementsAre(now.rules[4]));
    EXPECT_THAT(staying_filters(now, {}, going),
                ElementsAre("ip nat CNI-HOSTPORT-DNAT", "ip nat CNI-DN-1",
                            "ip nat CNI-HOSTPORT-SETMARK", "ip nat CNI-2"));
}

TEST(NewFilters, OfDockerStayAndAreNamed) {
    Ruleset now = after_kubelet();
    const auto docker = chain("filter", "DOCKER");
    now.chains.push_back(docker);
    now.rules.push_back(rule(base("filter", "INPUT"), 9, "DOCKER"));
    const Ruleset going = going_of(now, {});
    EXPECT_THAT(staying_filters(now, {}, going), ElementsAre("ip filter DOCKER"));
    EXPECT_THAT(staying_filters(now, {"ip filter DOCKER"}, going), IsEmpty());
}

}  // namespace
}  // namespace kubexm::executor::new_objects
