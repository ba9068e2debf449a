#include "daemon/agent/decide.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/agent/conditions.hpp"
#include "daemon/agent/state.hpp"

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

/// An owner with one plan, a join.
wire::ObservedOwner owner_with(const std::string& name, std::uint32_t objects,
                               model::PlanState state) {
    wire::Outcome join;
    join.purpose = model::PlanPurpose::join;
    join.plan_id = "join-1";
    join.state = state;
    return {name, objects, {join}, {}};
}

/// The decision about a host with these orders and this content.
Decision decide(const model::HostRecord& host, const ExecutorState& executor) {
    AgentState state;
    state.host = host;
    state.executor.observed = executor;
    return agent::decide(state, {}).value_or(Decision{});
}

ExecutorState with_node_for(const std::string& owner) {
    return {{owner_with(owner, 45, model::PlanState::done)}, ""};
}

TEST(Decide, AFreeHostWaits) {
    const Decision decision = decide({}, {});
    EXPECT_EQ(decision.action, Action::wait);
    EXPECT_EQ(decision.reason, "WaitingForMachineRefToBeAssigned");
}

TEST(Decide, TheMessageOfTheReleaseStays) {
    model::HostRecord host;
    host.conditions = {is_false(kBootstrapped, "Info", kNodeAbsent, "delete the Node")};
    EXPECT_EQ(decide(host, {}).reason, kNodeAbsent);
    EXPECT_EQ(decide(host, {}).message, "delete the Node");
}

TEST(Decide, AnAssignedHostJoins) {
    const Decision decision = decide(assigned(), {});
    EXPECT_EQ(decision.action, Action::join);
    EXPECT_EQ(decision.owner, "machine-u1");
}

TEST(Decide, ASecretWithoutAMachineIsNoAssignment) {
    model::HostRecord host = assigned();
    host.machine.reset();
    EXPECT_EQ(decide(host, {}).action, Action::wait);
}

TEST(Decide, AnAssignedHostWaitsForItsSecret) {
    model::HostRecord host = assigned();
    host.bootstrap_secret.reset();
    EXPECT_EQ(decide(host, {}).reason, "BootstrapDataSecretUnavailable");
}

TEST(Decide, OtherJoinModesAreRefused) {
    for (const std::string mode : {"", "kubeadm", "magic"}) {
        model::HostRecord host = assigned();
        host.join_mode = mode;
        EXPECT_EQ(decide(host, {}).action, Action::refuse) << mode;
        EXPECT_EQ(decide(host, {}).reason, "JoinModeNotAvailable") << mode;
    }
}

TEST(Decide, AJoinedNodeIsMaintained) {
    EXPECT_EQ(decide(assigned(), with_node_for("machine-u1")).action, Action::maintain);
}

TEST(Decide, AnIncompleteJoinIsCompleted) {
    for (const auto state :
         {model::PlanState::running, model::PlanState::failed, model::PlanState::cancelled}) {
        const ExecutorState executor{{owner_with("machine-u1", 3, state)}, ""};
        EXPECT_EQ(decide(assigned(), executor).action, Action::join) << name_of(state);
    }
}

TEST(Decide, AJoinedNodeNeedsNoSecret) {
    model::HostRecord host = assigned();
    host.bootstrap_secret.reset();
    EXPECT_EQ(decide(host, with_node_for("machine-u1")).action, Action::maintain);
}

TEST(Decide, AJoinedNodeWithAnotherJoinModeIsHeld) {
    model::HostRecord host = assigned();
    host.join_mode = "kubeadm";
    const Decision decision = decide(host, with_node_for("machine-u1"));
    EXPECT_EQ(decision.action, Action::hold);
    EXPECT_THAT(decision.message, HasSubstr("kubeadm"));
}

TEST(Decide, PausedWinsOverRelease) {
    model::HostRecord host = assigned();
    host.paused = host.release_asked = true;
    EXPECT_EQ(decide(host, with_node_for("machine-u1")).action, Action::ignore);
}

TEST(Decide, AReleaseIsForThePresentOwner) {
    model::HostRecord host = assigned();
    host.release_asked = true;
    EXPECT_EQ(decide(host, with_node_for("machine-u1")).owner, "machine-u1");
    host.machine.reset();  // the second patch of a release
    EXPECT_EQ(decide(host, with_node_for("machine-u1")).action, Action::release);
    EXPECT_EQ(decide(host, with_node_for("machine-u1")).owner, "machine-u1");
}

TEST(Decide, APlanWithoutObjectsYetIsReleased) {
    model::HostRecord host = assigned();
    host.release_asked = true;
    const ExecutorState executor{{owner_with("machine-u1", 0, model::PlanState::running)},
                                 "join-1"};
    EXPECT_EQ(decide(host, executor).owner, "machine-u1");
}

TEST(Decide, AMachineThatDisappearedOrChangedIsNoRelease) {
    model::HostRecord host = assigned();
    host.machine.reset();
    const Decision disappeared = decide(host, with_node_for("machine-u1"));
    EXPECT_EQ(disappeared.action, Action::hold);
    EXPECT_THAT(disappeared.message, HasSubstr("unregistering"));
    host.machine = model::Reference{"default", "workers-2", "u2"};
    const Decision changed = decide(host, with_node_for("machine-u1"));
    EXPECT_EQ(changed.action, Action::hold);
    EXPECT_THAT(changed.message, HasSubstr("workers-2"));
}

TEST(Decide, AnInvalidAssignmentIsRefusedOrHeldAndCanBeReleased) {
    model::HostRecord host = assigned();
    host.problem = "spec.taints[0].effect: expected NoSchedule";
    EXPECT_EQ(decide(host, {}).action, Action::refuse);
    EXPECT_EQ(decide(host, {}).message, host.problem);
    EXPECT_EQ(decide(host, with_node_for("machine-u1")).action, Action::hold);
    EXPECT_EQ(decide(host, with_node_for("machine-u1")).message, host.problem);
    host.release_asked = true;
    EXPECT_EQ(decide(host, with_node_for("machine-u1")).action, Action::release);
}

TEST(Decide, OtherOwnersAreIgnored) {
    const ExecutorState executor{{owner_with("example", 1, model::PlanState::running)}, "p1"};
    EXPECT_EQ(decide({}, executor).action, Action::wait);
    EXPECT_EQ(decide(assigned(), executor).action, Action::join);
    model::HostRecord host = assigned();
    host.release_asked = true;
    EXPECT_EQ(decide(host, executor).owner, "");
}

}  // namespace
}  // namespace kubexm::agent
