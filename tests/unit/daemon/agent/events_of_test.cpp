#include "daemon/agent/events_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/agent/conditions.hpp"
#include "daemon/agent/state.hpp"

namespace kubexm::agent {
namespace {

using kube::EventType;
using kube::HostEvent;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kOwner = "machine-u1";

auto event(EventType type, const std::string& reason, const std::string& text) {
    return AllOf(Field(&HostEvent::type, type), Field(&HostEvent::reason, reason),
                 Field(&HostEvent::message, HasSubstr(text)));
}
auto normal_event(const std::string& reason, const std::string& text) {
    return event(EventType::normal, reason, text);
}
auto warning_event(const std::string& reason, const std::string& text) {
    return event(EventType::warning, reason, text);
}

JoinedMachine machine(bool became_ready) {
    JoinedMachine joined;
    joined.owner = kOwner;
    joined.machine = {"default", "workers-1", "u1"};
    joined.became_ready = became_ready;
    return joined;
}

NodeState node(bool observed, std::optional<Error> invalid = {}) {
    NodeState node;
    node.owner = kOwner;
    node.observed = observed;
    node.became_ready = true;
    node.invalid = std::move(invalid);
    return node;
}

model::PlanView plan(model::PlanPurpose purpose, model::PlanState state,
                     const std::string& error = "") {
    model::PlanView plan;
    plan.id = "plan-1";
    plan.purpose = purpose;
    plan.state = state;
    plan.error = error;
    return plan;
}

/// A ByoHost that has this condition.
model::HostRecord host_with(model::Condition condition) {
    model::HostRecord host;
    host.conditions.push_back(std::move(condition));
    return host;
}

/// A host whose join is under way.
AgentState joining() {
    AgentState state;
    state.facts.name = "h1";
    state.host = model::HostRecord{};
    state.executor.observed = ExecutorState{};
    state.executor.drift_known = true;
    state.decision = Decision{Action::join, kOwner, "", ""};
    state.memory.joined = machine(false);
    return state;
}

/// A node that is Ready.
AgentState joined() {
    AgentState state = joining();
    wire::Outcome join;
    join.purpose = model::PlanPurpose::join;
    join.state = model::PlanState::done;
    state.executor.observed = ExecutorState{{{kOwner, 45, {join}}}, ""};
    state.decision = Decision{Action::maintain, kOwner, "", ""};
    state.memory.joined = machine(true);
    state.node = node(true);
    return state;
}

/// The events of a change.
template <typename Change>
std::vector<HostEvent> news(const AgentState& before, Change change) {
    AgentState after = before;
    change(after);
    return events_of(before, after);
}

void fail_with(AgentState& state, const std::string& what) {
    state.failure = ActivityFailure{{Code::unavailable, what}};
}

TEST(EventsOf, NothingChangedAndNothingIsTold) {
    EXPECT_THAT(events_of({}, {}), IsEmpty());
    EXPECT_THAT(events_of(joined(), joined()), IsEmpty());
}

TEST(EventsOf, AJoin) {
    EXPECT_THAT(news(joining(), [](AgentState& s) { s.memory.joined = machine(true); }),
                ElementsAre(normal_event("BootstrapK8sNodeSucceeded", "default/workers-1")));
}

TEST(EventsOf, AJoinThatFails) {
    AgentState before = joining();
    before.plan = plan(model::PlanPurpose::join, model::PlanState::failed);
    const auto events = news(before, [](AgentState& s) { fail_with(s, "plan plan-1: disk full"); });
    EXPECT_EQ(events,
              (std::vector<HostEvent>{{EventType::warning, "BootstrapK8sNodeFailed", "disk full"}}))
        << "without the plan's id, so that the next failure is a repeat";
    before.settings_problem = Error{Code::unavailable, "no secret"};
    EXPECT_THAT(news(before, [](AgentState& s) { fail_with(s, "no secret"); }),
                ElementsAre(warning_event("ReadBootstrapSecretFailed", "no secret")));
    EXPECT_THAT(news(before, [](AgentState& s) { fail_with(s, "disk full"); }),
                ElementsAre(warning_event("BootstrapK8sNodeFailed", "disk full")));
}

TEST(EventsOf, AFailureOnAJoinedNodeIsNoFailedBootstrap) {
    AgentState before = joined();
    before.decision = Decision{Action::join, kOwner, "", "", "changed settings"};
    EXPECT_THAT(news(before, [](AgentState& s) { fail_with(s, "disk full"); }),
                ElementsAre(warning_event("AssignmentFailed", "disk full")));
    before.decision = Decision{Action::adopt, "machine-u2", "", "", "", kOwner};
    EXPECT_THAT(news(before, [](AgentState& s) { fail_with(s, "disk full"); }),
                ElementsAre(warning_event("AssignmentFailed", "disk full")));
}

TEST(EventsOf, ARelease) {
    AgentState before = joined();
    before.decision = Decision{Action::release, kOwner, "", ""};
    EXPECT_THAT(news(before, [](AgentState& s) { fail_with(s, "a mount is busy"); }),
                ElementsAre(warning_event("ResetK8sNodeFailed", "busy")));
    const auto undo = [](AgentState& s) { s.released = Released{"the host is as it was"}; };
    EXPECT_THAT(news(before, undo), IsEmpty()) << "the ByoHost is not freed yet";
    undo(before);
    EXPECT_THAT(news(before, [](AgentState& s) { s.memory.joined.reset(); }),
                ElementsAre(normal_event("ResetK8sNodeSucceeded", "as it was")));
    EXPECT_THAT(news(before,
                     [](AgentState& s) {
                         s.released.reset();
                         fail_with(s, "not freed");
                     }),
                IsEmpty())
        << "the node was reset";
}

TEST(EventsOf, OrdersThatDoNotFit) {
    AgentState before = joined();
    const auto hold = [](AgentState& s) {
        s.decision = Decision{Action::hold, kOwner, "ManualDecisionRequired", "another machine"};
    };
    EXPECT_THAT(news(before, hold),
                ElementsAre(warning_event("ManualDecisionRequired", "another machine")));
    before.host = host_with(
        is_false(kAssignmentApplied, "Warning", "ManualDecisionRequired", "another machine"));
    EXPECT_THAT(news(before, hold), IsEmpty()) << "from before a restart";
    EXPECT_THAT(news(joining(),
                     [](AgentState& s) {
                         s.decision = Decision{Action::refuse, kOwner, "JoinModeNotAvailable", "x"};
                     }),
                ElementsAre(warning_event("JoinModeNotAvailable", "x")));
}

TEST(EventsOf, DriftNamesWhatWasFoundAndThePause) {
    const auto drift = [](AgentState& s) {
        s.executor.drift = {{kOwner, "unit kubelet.service", "inactive"},
                            {"root", "file /etc/hosts", "changed"}};
    };
    const auto events = news(joined(), drift);
    EXPECT_THAT(events, ElementsAre(warning_event(
                            "HostDrifted",
                            "unit kubelet.service: inactive; kubexmctl pause stops repairs")));
    AgentState paused = joined();
    paused.decision = Decision{Action::pause, kOwner, "PausedByPerson", ""};
    EXPECT_THAT(news(paused, drift), ElementsAre(warning_event("HostDrifted", "not repaired")));
    AgentState started = joined();
    started.executor.drift_known = false;
    EXPECT_THAT(news(started, drift), ElementsAre(warning_event("HostDrifted", "kubelet")));
    started.host = host_with(is_false(kHostAsApplied, "Warning", "Drifted", "unit"));
    EXPECT_THAT(news(started, drift), IsEmpty()) << "the process before has told it";
}

TEST(EventsOf, OnlyNewDriftIsTold) {
    AgentState before = joined();
    before.executor.drift = {{kOwner, "unit kubelet.service", "inactive"}};
    EXPECT_THAT(news(before, [](AgentState& s) { s.executor.drift.clear(); }), IsEmpty());
    const auto events = news(before, [](AgentState& s) {
        s.executor.drift.push_back({kOwner, "file /etc/x", "absent"});
    });
    ASSERT_THAT(events, ElementsAre(warning_event("HostDrifted", "file /etc/x: absent")));
    EXPECT_THAT(events[0].message, Not(HasSubstr("kubelet.service")));
}

TEST(EventsOf, MuchDriftIsOneEventThatNamesThePause) {
    const auto events = news(joined(), [](AgentState& s) {
        for (int i = 0; i < 30; ++i) {
            s.executor.drift.push_back({kOwner, "file /" + std::string(900, 'x'), "absent"});
        }
    });
    ASSERT_THAT(events, ElementsAre(warning_event("HostDrifted", "and 25 more objects")));
    EXPECT_LE(events[0].message.size(), 1024U);
    EXPECT_THAT(events[0].message, HasSubstr("kubexmctl pause"));
}

TEST(EventsOf, ARepair) {
    using namespace std::chrono_literals;
    AgentState before = joined();
    before.plan = plan(model::PlanPurpose::repair, model::PlanState::running);
    before.repairs["file /etc/old"].last = std::chrono::sys_seconds(10s);
    before.repairs["unit kubelet.service"].last = std::chrono::sys_seconds(20s);
    const auto events = news(before, [](AgentState& s) {
        s.plan = plan(model::PlanPurpose::repair, model::PlanState::done);
    });
    ASSERT_THAT(events, ElementsAre(normal_event("HostRepaired", "unit kubelet.service")));
    EXPECT_THAT(events[0].message, Not(HasSubstr("old")));
    EXPECT_THAT(news(before,
                     [](AgentState& s) {
                         s.plan = plan(model::PlanPurpose::repair, model::PlanState::failed,
                                       "disk full");
                     }),
                ElementsAre(warning_event("HostRepairFailed", "disk full")));
}

TEST(EventsOf, ANodeThatIsNotReadyAndReadyAgain) {
    const auto fails = [](AgentState& s) {
        s.node = node(true, Error{Code::unavailable, "Node h1 is not Ready"});
    };
    const auto recovers = [](AgentState& s) { s.node = node(true); };
    EXPECT_THAT(news(joined(), fails),
                ElementsAre(warning_event("NodeNotReady", "Node h1 is not Ready")));
    AgentState before = joined();
    fails(before);
    EXPECT_THAT(news(before, recovers), ElementsAre(normal_event("NodeReady", "h1")));
    before.memory.joined = machine(false);
    EXPECT_THAT(news(before, recovers), IsEmpty())
        << "the first time is told as BootstrapK8sNodeSucceeded";
    AgentState started = joined();
    started.node = node(false);
    EXPECT_THAT(news(started, fails), IsEmpty()) << "it was not Ready before kubexmd's start";
}

TEST(EventsOf, APauseAndItsEnd) {
    EXPECT_THAT(news(joined(), [](AgentState& s) { s.memory.pause = Pause{.since = 1, .uid = 7}; }),
                ElementsAre(normal_event("HostPaused", "user 7")));
    AgentState before = joined();
    before.decision = Decision{Action::pause, kOwner, "PausedByPerson", ""};
    before.memory.pause = Pause{};
    const auto go_on = [](AgentState& s) { s.decision = joined().decision; };
    EXPECT_THAT(news(before, go_on), ElementsAre(normal_event("HostResumed", "again")));
    EXPECT_THAT(news(before,
                     [](AgentState& s) {
                         s.decision = Decision{Action::release, kOwner, "", ""};
                         s.memory.leave = Leave{kOwner, 0};
                     }),
                IsEmpty())
        << "a leave does not end the pause";
}

TEST(EventsOf, ACertificateThatWaits) {
    const auto wait = [](AgentState& s) {
        s.requests["node"] = {"https://workload:6443", "node-csr-x"};
    };
    EXPECT_THAT(news(joining(), wait),
                ElementsAre(normal_event("CertificateWaiting", "certificate approve node-csr-x")));
    AgentState before = joining();
    before.host = host_with(is_false(kCertificateIssued, "Info", "WaitingForApproval", ""));
    EXPECT_THAT(news(before, wait), IsEmpty()) << "from before a restart";
}

}  // namespace
}  // namespace kubexm::agent
