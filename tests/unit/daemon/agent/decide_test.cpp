#include "daemon/agent/decide.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/agent/conditions.hpp"

namespace kubexm::agent {
namespace {

using testing::HasSubstr;

const model::Reference kMachine{"default", "workers-1", "u1"};

model::HostRecord assigned() {
    model::HostRecord host;
    host.machine = kMachine;
    host.bootstrap_secret = {"default", "workers-1-tls-bootstrap", ""};
    host.join_mode = "tlsBootstrap";
    return host;
}

wire::PlanSummary plan(const std::string& id, const std::string& owner, const std::string& state) {
    return {id, "", owner, state, "", 0, 0};
}

HandsState with_node_for(const std::string& owner) {
    return {{owner}, plan("join-1", owner, "done"), ""};
}

TEST(Decide, AFreeHostWaits) {
    const Decision decision = decide({}, {});
    EXPECT_EQ(decision.move, Move::wait);
    EXPECT_EQ(decision.reason, "WaitingForMachineRefToBeAssigned");
}

TEST(Decide, WhatWasSaidAtTheReleaseStays) {
    model::HostRecord host;
    host.conditions = {is_false(kBootstrapped, "Info", kNodeAbsent, "delete the Node")};
    EXPECT_EQ(decide(host, {}).reason, kNodeAbsent);
    EXPECT_EQ(decide(host, {}).message, "delete the Node");
}

TEST(Decide, AnAssignedHostJoins) {
    const Decision decision = decide(assigned(), {});
    EXPECT_EQ(decision.move, Move::join);
    EXPECT_EQ(decision.owner, "machine-u1");
}

TEST(Decide, TheFirstPatchOfAnAttachIsNoOrderYet) {
    model::HostRecord host = assigned();
    host.machine.reset();
    EXPECT_EQ(decide(host, {}).move, Move::wait);
}

TEST(Decide, WaitsForTheSecretToBeNamed) {
    model::HostRecord host = assigned();
    host.bootstrap_secret.reset();
    EXPECT_EQ(decide(host, {}).reason, "BootstrapDataSecretUnavailable");
}

TEST(Decide, SaysThatKubeadmModeIsNotThereYet) {
    for (const std::string mode : {"", "kubeadm", "magic"}) {
        model::HostRecord host = assigned();
        host.join_mode = mode;
        EXPECT_EQ(decide(host, {}).move, Move::refuse) << mode;
        EXPECT_EQ(decide(host, {}).reason, "JoinModeNotAvailable") << mode;
    }
}

TEST(Decide, ANodeThatIsMadeIsTended) {
    EXPECT_EQ(decide(assigned(), with_node_for("machine-u1")).move, Move::tend);
}

TEST(Decide, ANodeThatIsHalfMadeIsFinished) {
    for (const std::string state : {"running", "failed", "cancelled", "undone"}) {
        const HandsState hands{{"machine-u1"}, plan("join-1", "machine-u1", state), ""};
        EXPECT_EQ(decide(assigned(), hands).move, Move::join) << state;
    }
}

TEST(Decide, ANodeDoesNotNeedItsSecretAnyMore) {
    model::HostRecord host = assigned();
    host.bootstrap_secret.reset();
    EXPECT_EQ(decide(host, with_node_for("machine-u1")).move, Move::tend);
}

TEST(Decide, ANodeStaysThatShallHaveJoinedInAnotherWay) {
    model::HostRecord host = assigned();
    host.join_mode = "kubeadm";
    const Decision decision = decide(host, with_node_for("machine-u1"));
    EXPECT_EQ(decision.move, Move::hold);
    EXPECT_THAT(decision.message, HasSubstr("kubeadm"));
}

TEST(Decide, PausedIsPausedEvenWhereAReleaseIsAsked) {
    model::HostRecord host = assigned();
    host.paused = host.release_asked = true;
    EXPECT_EQ(decide(host, with_node_for("machine-u1")).move, Move::leave_alone);
}

TEST(Decide, AReleaseIsForWhatIsThere) {
    model::HostRecord host = assigned();
    host.release_asked = true;
    EXPECT_EQ(decide(host, with_node_for("machine-u1")).owner, "machine-u1");
    host.machine.reset();  // the second patch of a release
    EXPECT_EQ(decide(host, with_node_for("machine-u1")).move, Move::release);
    EXPECT_EQ(decide(host, with_node_for("machine-u1")).owner, "machine-u1");
}

TEST(Decide, APlanThatHasLeftNothingYetIsReleasedToo) {
    model::HostRecord host = assigned();
    host.release_asked = true;
    const HandsState hands{{}, plan("join-1", "machine-u1", "running"), "join-1"};
    EXPECT_EQ(decide(host, hands).owner, "machine-u1");
}

TEST(Decide, NothingIsWipedOnInference) {
    model::HostRecord host = assigned();
    host.machine.reset();
    const Decision vanished = decide(host, with_node_for("machine-u1"));
    EXPECT_EQ(vanished.move, Move::hold);
    EXPECT_THAT(vanished.message, HasSubstr("unregistering"));
    host.machine = model::Reference{"default", "workers-2", "u2"};
    const Decision changed = decide(host, with_node_for("machine-u1"));
    EXPECT_EQ(changed.move, Move::hold);
    EXPECT_THAT(changed.message, HasSubstr("workers-2"));
}

TEST(Decide, WhatCannotBeReadIsRefusedOrHeldAndCanBeReleased) {
    model::HostRecord host = assigned();
    host.problem = "spec.taints[0].effect: expected NoSchedule";
    EXPECT_EQ(decide(host, {}).move, Move::refuse);
    EXPECT_EQ(decide(host, {}).message, host.problem);
    EXPECT_EQ(decide(host, with_node_for("machine-u1")).move, Move::hold);
    EXPECT_EQ(decide(host, with_node_for("machine-u1")).message, host.problem);
    host.release_asked = true;
    EXPECT_EQ(decide(host, with_node_for("machine-u1")).move, Move::release);
}

TEST(Decide, WhatOthersHaveOnTheHostIsNoneOfItsBusiness) {
    const HandsState hands{{"example"}, std::nullopt, "p1"};
    EXPECT_EQ(decide({}, hands).move, Move::wait);
    EXPECT_EQ(decide(assigned(), hands).move, Move::join);
    model::HostRecord host = assigned();
    host.release_asked = true;
    EXPECT_EQ(decide(host, hands).owner, "");
}

}  // namespace
}  // namespace kubexm::agent
