#include "daemon/executor/engine/footprint.hpp"

#include <gtest/gtest.h>

namespace kubexm::executor {
namespace {

using namespace model;

const Directory kPki{"/etc/kubernetes/pki", {}};
const Directory kSibling{"/etc/kubernetes/pkix", {}};
const DataFile kCa{"/etc/kubernetes/pki/ca.crt", DataKind::ca_bundle, "", {}};
const RenderedFile kCni{CniConfiguration{}};
const SecretFile kKey{"/etc/kubernetes/pki/key", "", "", {}};
const model::Claim kClaim{"/etc/kubernetes/pki", std::nullopt};
const model::Claim kOuterClaim{"/etc/kubernetes", std::nullopt};
const model::Claim kPodLogs{"/var/log/pods", std::nullopt};
const RenderedFile kUnitFile{KubeletService{}};
const DaemonReload kReload{{"kubelet.service"}};
const UnitState kKubelet{"kubelet.service", true, true, std::nullopt, ""};
const UnitState kRuntime{"containerd.service", true, true, std::nullopt, ""};
const SideEffects kPods{SideEffect::pods};
const SideEffects kLinks{SideEffect::links};
const Sysctl kForward{"net.ipv4.ip_forward", "1"};
const Sysctl kPanic{"kernel.panic", "10"};
const KernelModule kModule{"br_netfilter"};
const DeletedTree kTree{"/var/lib/old"};
const TransientUnit kRun{"kubexm-x.service", {"/usr/bin/true"}, 60};
const ComponentVersion kComponent{"kubelet", "v1", {}};

struct Case {
    Step a;
    Step b;
    bool expected;
};

std::string text(const Case& test) { return object_of(test.a) + " and " + object_of(test.b); }

TEST(Groups, AreOfStepsThatReadNothingOfEachOther) {
    const std::vector<Case> cases{
        {kForward, kPanic, true},
        {kForward, kPki, true},
        {kCa, kKey, true},
        {kPki, kSibling, true},
        {kClaim, kOuterClaim, true},  // both only read
        {kReload, kCa, true},
        {kReload, kPods, true},
        {kForward, kForward, false},
        {kForward, Sysctl{"net.ipv4.conf.all.forwarding", "1"}, false},
        {kPki, kCa, false},
        {kClaim, kCa, false},
        {kOuterClaim, kPki, false},
        {kUnitFile, kReload, false},
        {kKubelet, kForward, false},
        {kModule, kForward, false},
        {kRun, kForward, false},
        {kTree, kForward, false},
        {AbsentPath{"/x"}, kForward, false},
        {kComponent, kForward, false},
    };
    for (const Case& test : cases) {
        EXPECT_EQ(may_share_commit(test.a, test.b), test.expected) << text(test);
        EXPECT_EQ(may_share_commit(test.b, test.a), test.expected) << text(test);
    }
}

TEST(Groups, OfAnUndoHaveNoPathInAnother) {
    EXPECT_TRUE(may_share_undo_commit(kCa, kKey));
    EXPECT_FALSE(may_share_undo_commit(kClaim, kOuterClaim));
    EXPECT_FALSE(may_share_undo_commit(kCa, kPki));
    EXPECT_FALSE(may_share_undo_commit(kPods, kForward));
    EXPECT_FALSE(may_share_undo_commit(kKubelet, kForward));
}

TEST(Reloads, GoOnWhileStepsAreUndoneThatDoNotNeedSystemd) {
    const RenderedFile drop_in{ProxyDropIn{.service = ManagedService::kubelet}};
    const Directory around{"/etc/systemd/system", {}};
    for (const Step& step : {Step(kCa), Step(kPki), Step(kKey), Step(kClaim), Step(kPods),
                             Step(kLinks), Step(kForward)}) {
        EXPECT_TRUE(may_undo_during_reload(kUnitFile, step)) << object_of(step);
    }
    for (const Step& step : {Step(kKubelet), Step(kRun), Step(kTree), Step(kModule), Step(kReload),
                             Step(drop_in), Step(around), Step(SideEffects{SideEffect::cgroups}),
                             Step(SideEffects{SideEffect::network_files})}) {
        EXPECT_FALSE(may_undo_during_reload(kUnitFile, step)) << object_of(step);
    }
}

TEST(Groups, EndBeforeTheFirstStepThatDoesNotFit) {
    const std::vector<Step> steps{kForward, kPanic, kPki, kCa, kKey};
    std::vector<const Step*> list;
    list.reserve(steps.size());
    for (const Step& step : steps) list.push_back(&step);
    EXPECT_EQ(first_group(list), 3U);
    EXPECT_EQ(first_group(std::span(list).subspan(3)), 2U);
    EXPECT_EQ(first_group({}), 0U);
}

TEST(Dependencies, APathBelowAClaimIsClaimed) {
    EXPECT_TRUE(is_claimed(kCa, kClaim));
    EXPECT_TRUE(is_claimed(kCa, kOuterClaim));
    EXPECT_FALSE(is_claimed(kSibling, kClaim));
    EXPECT_FALSE(is_claimed(kCa, kPki));
}

TEST(Dependencies, OfOlderStepsOnAFailedUndo) {
    struct Dependency {
        Step older;
        Step failed;
        bool expected;
    };
    const std::vector<Dependency> cases{
        // A path that contains the failed one.
        {kPki, kCa, true},
        {kClaim, kCa, true},
        {kOuterClaim, kClaim, true},
        {kSibling, kCa, false},
        {kCa, kPki, false},
        {kCa, kKey, false},
        // A unit that cannot be stopped.
        {kUnitFile, kKubelet, true},
        {kKey, kKubelet, true},
        {kPodLogs, kKubelet, true},
        {kComponent, kKubelet, true},
        {kPods, kKubelet, true},
        {kForward, kKubelet, false},
        {kModule, kKubelet, false},
        {kReload, kKubelet, false},
        // Pods that cannot be removed.
        {kPodLogs, kPods, true},
        {kLinks, kPods, true},
        {kRuntime, kPods, true},
        {kCni, kPods, true},
        {kCa, kPods, false},
        {kForward, kPods, false},
        // Anything else.
        {kPki, kForward, false},
        {kForward, kModule, false},
    };
    for (const Dependency& test : cases) {
        EXPECT_EQ(depends(test.older, test.failed), test.expected)
            << object_of(test.older) << " after " << object_of(test.failed);
    }
}

}  // namespace
}  // namespace kubexm::executor
