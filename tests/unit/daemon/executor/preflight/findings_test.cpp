#include "daemon/executor/preflight/findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "daemon/model/step_names.hpp"

namespace kubexm::executor {
namespace {

using model::CgroupDriver;
using model::CheckId;
using testing::ElementsAre;
using testing::IsEmpty;

PreflightFacts ready_host() {
    PreflightFacts facts;
    facts.version = "v1.34.1";
    facts.cgroup_driver = CgroupDriver::systemd;
    facts.kernel = "6.1.0-25-amd64";
    return facts;
}

const model::JoinNeeds kNeeds{.node_name = "h1",
                              .server = "https://10.0.0.1:6443",
                              .minor = 34,
                              .cgroup_driver = CgroupDriver::systemd,
                              .fail_swap_on = true};

std::vector<CheckId> ids(const PreflightFacts& facts, const model::JoinNeeds& needs = kNeeds,
                         bool is_own_node = false) {
    std::vector<CheckId> found;
    for (const model::Finding& each : findings_of(facts, needs, is_own_node)) {
        EXPECT_FALSE(each.found.empty() || each.needed.empty() || each.remedy.empty())
            << name_of(each.id);
        found.push_back(each.id);
    }
    return found;
}

TEST(Preflight, NamesAServerThatRootDoesNotPermitOrThatIsNone) {
    PreflightFacts facts = ready_host();
    model::JoinNeeds needs = kNeeds;
    facts.allowed_clusters = {"10.0.0.1:6443"};
    EXPECT_THAT(ids(facts, needs), IsEmpty());
    facts.allowed_clusters = {"10.0.0.2:6443"};
    EXPECT_THAT(ids(facts, needs), ElementsAre(CheckId::cluster_allowed));
    facts.allowed_clusters = {"*"};
    for (const char* server : {"http://10.0.0.1", "10.0.0.1:6443", "https://10.0.0.1:6443/a?b=c"}) {
        needs.server = server;
        EXPECT_THAT(ids(facts, needs), ElementsAre(CheckId::cluster_allowed)) << server;
    }
}

struct Case {
    CheckId id;
    std::function<void(PreflightFacts&)> change;
    bool of_own_node;  // also a finding on a node of ours
};

const Case kCases[] = {
    {CheckId::kubelet_active, [](auto& facts) { facts.kubelet_active = true; }, false},
    {CheckId::kubelet_enabled, [](auto& facts) { facts.kubelet_enabled = true; }, false},
    {CheckId::kubeconfig_present,
     [](auto& facts) { facts.kubeconfigs = {"/etc/kubernetes/kubelet.conf"}; }, false},
    {CheckId::static_pods_present,
     [](auto& facts) { facts.manifests = {"/etc/kubernetes/manifests/etcd.yaml"}; }, false},
    {CheckId::pods_present, [](auto& facts) { facts.pods = 3; }, false},
    {CheckId::kubelet_drop_in, [](auto& facts) { facts.drop_ins = {"/usr/lib/10.conf"}; }, true},
    {CheckId::kubelet_missing,
     [](auto& facts) { facts.kubelet = Error{Code::not_found, "no kubelet"}; }, true},
    {CheckId::kubelet_version, [](auto& facts) { facts.version = "v1.33.9"; }, true},
    {CheckId::runtime_silent,
     [](auto& facts) { facts.runtime = Error{Code::not_found, "no socket"}; }, true},
    {CheckId::cri_disabled, [](auto& facts) { facts.cri = Error{Code::not_found, "no CRI"}; },
     true},
    {CheckId::cgroup_driver, [](auto& facts) { facts.cgroup_driver = CgroupDriver::cgroupfs; },
     true},
    {CheckId::swap_on, [](auto& facts) { facts.swaps = {"/dev/vda2"}; }, true},
    {CheckId::kernel_version, [](auto& facts) { facts.kernel = "5.7.19"; }, true},
    {CheckId::port_taken, [](auto& facts) { facts.port_taken = true; }, false},
    {CheckId::network_tools, [](auto& facts) { facts.missing_tools = {"nft"}; }, true},
    {CheckId::cluster_allowed, [](auto& facts) { facts.allowed_clusters = {"10.0.0.2:6443"}; },
     true},
};

TEST(Findings, OfAReadyHostAreNone) { EXPECT_THAT(ids(ready_host()), IsEmpty()); }

TEST(Findings, HaveTheirOwnIds) {
    // The first has a test of its own; the others are kubexmd's.
    std::set<CheckId> seen{CheckId::host_name, CheckId::api_server, CheckId::clock,
                           CheckId::name_lookup};
    for (const auto& [id, change, of_own_node] : kCases) {
        SCOPED_TRACE(name_of(id));
        PreflightFacts facts = ready_host();
        change(facts);
        EXPECT_THAT(ids(facts), ElementsAre(id));
        EXPECT_EQ(ids(facts, kNeeds, /*is_own_node=*/true).size(), of_own_node ? 1U : 0U);
        facts.kubelet_is_ours = true;  // after kubexmctl journal discard
        EXPECT_EQ(ids(facts).size(), of_own_node ? 1U : 0U);
        seen.insert(id);
    }
    EXPECT_EQ(seen.size(), Names<CheckId>::kAll.size());
}

TEST(Findings, OnlyTheToolsAreAWarning) {
    for (const auto& [id, change, of_own_node] : kCases) {
        PreflightFacts facts = ready_host();
        change(facts);
        const auto found = findings_of(facts, kNeeds, false);
        ASSERT_EQ(found.size(), 1U);
        const bool warns = id == CheckId::network_tools;
        EXPECT_EQ(found[0].severity, warns ? model::Severity::warning : model::Severity::error);
        EXPECT_EQ(model::without_errors(found).has_value(), warns) << name_of(id);
    }
}

TEST(Findings, OfHostNames) {
    for (const std::string& name :
         {std::string("localhost"), std::string("localhost.localdomain"), std::string(64, 'a')}) {
        model::JoinNeeds needs = kNeeds;
        needs.node_name = name;
        EXPECT_THAT(ids(ready_host(), needs), ElementsAre(CheckId::host_name)) << name;
    }
}

TEST(Findings, FollowTheOrders) {
    PreflightFacts facts = ready_host();
    facts.swaps = {"/dev/vda2"};
    facts.cgroup_driver = CgroupDriver::cgroupfs;
    facts.version = "v1.31.0";
    EXPECT_THAT(ids(facts, {.node_name = "h1",
                            .minor = 31,
                            .cgroup_driver = CgroupDriver::cgroupfs,
                            .fail_swap_on = false}),
                IsEmpty());
    facts.cgroup_driver.reset();
    EXPECT_THAT(ids(facts, {.fail_swap_on = false}), IsEmpty()) << "nothing is ordered, or known";
}

TEST(Findings, ARunningKubeletIsOneFinding) {
    PreflightFacts facts = ready_host();
    facts.kubelet_active = facts.kubelet_enabled = facts.port_taken = true;
    EXPECT_THAT(ids(facts), ElementsAre(CheckId::kubelet_active));
}

TEST(Findings, ASilentRuntimeIsOneFinding) {
    PreflightFacts facts = ready_host();
    facts.runtime = facts.cri = Error{Code::not_found, "no socket"};
    EXPECT_THAT(ids(facts), ElementsAre(CheckId::runtime_silent));
}

TEST(Findings, NeedsAreThoseOfThePlan) {
    const model::Plan plan{
        "p",
        "machine-1",
        {model::RenderedFile{model::KubeletConfiguration{
             .minor = 33, .cgroup_driver = CgroupDriver::cgroupfs, .fail_swap_on = false}},
         model::RenderedFile{model::KubeletService{.node_name = "n1"}}}};
    EXPECT_EQ(join_needs_of(plan), (model::JoinNeeds{.node_name = "n1",
                                                     .minor = 33,
                                                     .cgroup_driver = CgroupDriver::cgroupfs,
                                                     .fail_swap_on = false}));
}

TEST(Findings, AnErrorNamesWhatToDo) {
    PreflightFacts facts = ready_host();
    facts.swaps = {"/dev/vda2"};
    const auto refused = model::without_errors(findings_of(facts, kNeeds, false));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::conflict);
    EXPECT_THAT(refused.error().what,
                testing::HasSubstr("swap-on: expected no swap: kubelet does not start with it, "
                                   "found swap on /dev/vda2; swapoff --all"));
}

}  // namespace
}  // namespace kubexm::executor
