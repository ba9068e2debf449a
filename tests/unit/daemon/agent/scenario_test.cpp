#include "harness/harness.hpp"

// The way of one assignment, as all scenarios: events in; decisions, plans and conditions out.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using model::ConditionStatus;
using model::Phase;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class Scenario : public Harness {};

TEST_F(Scenario, AHostEnrolsJoinsAndIsReleased) {
    join();
    EXPECT_THAT(executor_.applied, SizeIs(1));
    EXPECT_EQ(reported(kBootstrapped).status, ConditionStatus::yes);
    EXPECT_EQ(reported(kNodeReady).status, ConditionStatus::yes);
    EXPECT_EQ(reported(kAssignmentApplied).status, ConditionStatus::yes);
    ask_for_release();
    advance(10s);
    EXPECT_THAT(executor_.undone, ElementsAre("machine-u1"));
    EXPECT_EQ(workload_.find(kNode), nullptr);
    EXPECT_EQ(phase(), Phase::waiting);
    EXPECT_EQ(reported(kBootstrapped).reason, kNodeAbsent);
    EXPECT_THAT(reported(kBootstrapped).message, HasSubstr("previous state is restored"));
    EXPECT_EQ(reported(kNodeReady).reason, kNodeAbsent);
    EXPECT_FALSE(management_.find(kHost)->contains("/status/machineRef"_json_pointer));
    EXPECT_FALSE(state().memory.joined);
    EXPECT_EQ(management_.conflicts, 0) << "a conflict delays the release by a second";
}

TEST_F(Scenario, NoPhaseIsShownTooEarly) {
    join();
    ask_for_release();
    advance(10s);
    EXPECT_THAT(phases_,
                ElementsAre(Phase::unconfigured, Phase::enrolling, Phase::waiting, Phase::joining,
                            Phase::joined, Phase::releasing, Phase::waiting));
}

TEST_F(Scenario, AWaitingCertificateIsReportedWithTheCommand) {
    start();
    make_secret();
    workload_.approves = false;
    assign();
    advance(10s);
    EXPECT_EQ(reported(kCertificateIssued).status, ConditionStatus::no);
    EXPECT_THAT(reported(kCertificateIssued).message, HasSubstr("kubectl certificate approve"));
    workload_.approve_all();
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(reported(kCertificateIssued).status, ConditionStatus::yes);
}

TEST_F(Scenario, ADeletedRequestIsPostedAgain) {
    start();
    make_secret();
    workload_.approves = false;
    workload_.on_change = [this, erased = false](const std::string& path) mutable {
        if (erased || path.find("certificatesigningrequests") == std::string::npos) return;
        erased = true;
        workload_.erase(path);
    };
    assign();
    advance(2s);
    workload_.approve_all();
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
}

TEST_F(Scenario, AHostThatIsNotReadyRequestsNoCertificateUntilItIs) {
    start();
    make_secret();
    executor_.findings = {{model::CheckId::swap_on, model::Severity::error, "swap on /dev/vda2",
                           "no swap", "swapoff --all"}};
    assign();
    advance(2s);
    EXPECT_EQ(phase(), Phase::failed);
    EXPECT_THAT(reported(kAssignmentApplied).message,
                HasSubstr("swap-on: expected no swap, found swap on /dev/vda2; swapoff --all"));
    EXPECT_EQ(reported(kBootstrapped).status, ConditionStatus::no);
    EXPECT_EQ(snapshot().preflight, executor_.findings);
    EXPECT_EQ(count_requests(workload_, "certificatesigningrequests"), 0U);
    executor_.findings.front().severity = model::Severity::warning;
    advance(5min);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(snapshot().preflight, executor_.findings);
    ask_for_release();
    advance(10s);
    EXPECT_THAT(snapshot().preflight, testing::IsEmpty());
}

TEST_F(Scenario, AHostThatWaitsShowsWhatWouldRefuseAJoin) {
    const model::Finding missing{model::CheckId::kubelet_missing, model::Severity::error, "nothing",
                                 "kubelet", "install kubelet"};
    const model::Finding depends{model::CheckId::swap_on, model::Severity::error, "swap on",
                                 "no swap", "swapoff --all"};
    executor_.findings = {missing, depends};
    start();
    advance(1s);
    EXPECT_EQ(phase(), Phase::waiting);
    EXPECT_THAT(snapshot().preflight, testing::ElementsAre(missing));
    management_.patch(kHost, {{"metadata", {{"annotations", {{"cluster.x-k8s.io/paused", ""}}}}}});
    executor_.findings.clear();
    advance(5min);
    EXPECT_THAT(snapshot().preflight, testing::IsEmpty()) << "also where orders are not followed";
}

TEST_F(Scenario, TheProgressOfAJoinIsReported) {
    start();
    make_secret();
    executor_.holds_plans = true;
    assign();
    advance(10s);
    EXPECT_EQ(reported(kAssignmentApplied).reason, "Joining");
    EXPECT_THAT(reported(kAssignmentApplied).message, HasSubstr("steps done"));
}

TEST_F(Scenario, ACertificateThatIsIssuedAtOnceIsNotReportedAsWaiting) {
    start();
    advance(10s);
    make_secret();
    workload_.approves = false;
    assign();
    EXPECT_EQ(reported(kAssignmentApplied).reason, "Joining");
    EXPECT_EQ(reported(kCertificateIssued).reason, "");
    workload_.approve_all();
    settle();
    EXPECT_EQ(reported(kBootstrapped).status, ConditionStatus::yes) << "a status does not wait";
    EXPECT_EQ(reported(kCertificateIssued).type, "");
}

TEST_F(Scenario, AnAnswerThatIsReadLateDoesNotHideANewerVersion) {
    join();
    advance(10s);
    management_.late_turns = 20;
    const auto before = management_.patches.size();
    // What is written first, and at once after it what somebody else writes.
    management_.on_change = [&, done = false](const std::string& path) mutable {
        if (done || path != kHost || management_.patches.size() == before) return;
        done = true;
        loop_.post([this] {
            management_.patch(kHost, {{"metadata", {{"annotations", {{"theirs", "1"}}}}}});
        });
    };
    ask_for_release();
    advance(10s);
    EXPECT_EQ(phase(), Phase::waiting);
    EXPECT_FALSE(management_.find(kHost)->contains("/status/machineRef"_json_pointer));
}

/// Its ByoHost changes between the end of the undo and the patches that free it: kubexmd learns of
/// it by a conflict.
TEST_F(Scenario, AReleaseThatIsWithdrawnBeforeTheByoHostIsFreedKeepsItsMachine) {
    join();
    executor_.holds_plans = true;
    ask_for_release();
    management_.lateness = [] { return 50; };
    patch_release(nullptr);
    executor_.end_plan(model::PlanState::undone);
    executor_.holds_plans = false;
    settle();
    EXPECT_EQ(management_.conflicts, 1);
    EXPECT_TRUE(management_.find(kHost)->contains("/status/machineRef"_json_pointer));
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_TRUE(executor_.has("machine-u1"));
    EXPECT_THAT(executor_.applied, SizeIs(2));
}

TEST_F(Scenario, AReleaseLooksAtTheNodeWhileItIsUndone) {
    join();
    executor_.holds_plans = true;
    const int connections = workload_.connections;
    ask_for_release();
    const auto requests = workload_.requests.size();
    executor_.end_plan(model::PlanState::undone);
    settle();
    EXPECT_EQ(workload_.requests.size(), requests + 1);
    EXPECT_EQ(workload_.requests.back(), std::string("DELETE ") + kNode);
    EXPECT_EQ(workload_.connections, connections + 1);
    EXPECT_EQ(phase(), Phase::waiting);
}

/// Somebody deletes the Node while the host is released, and it is registered once more.
class ReplacedNode : public Scenario {
protected:
    void release_with(const char* machine) {
        join();
        executor_.holds_plans = true;
        ask_for_release();
        json node = *workload_.find(kNode);
        node["metadata"] = {{"name", "h1"}};
        node["status"]["nodeInfo"]["machineID"] = machine;
        workload_.erase(kNode);
        workload_.put(kNode, node);
        executor_.end_plan(model::PlanState::undone);
        advance(10s);
        EXPECT_EQ(phase(), Phase::waiting);
    }
};

TEST_F(ReplacedNode, IsDeletedWhereItIsOurs) {
    release_with("m1");
    EXPECT_EQ(workload_.find(kNode), nullptr);
}

TEST_F(ReplacedNode, StaysWhereItIsAnotherMachines) {
    release_with("m2");
    EXPECT_NE(workload_.find(kNode), nullptr);
}

TEST_F(Scenario, WhatStaysIsReported) {
    join();
    executor_.stays = {{"file /etc/cni/net.d/10-x.conf", "somebody changed it", false}};
    ask_for_release();
    advance(10s);
    EXPECT_EQ(phase(), Phase::waiting);
    EXPECT_THAT(reported(kBootstrapped).message, HasSubstr("/etc/cni/net.d/10-x.conf stays"));
    EXPECT_THAT(reported(kBootstrapped).message, Not(HasSubstr("previous state is restored")));
}

TEST_F(Scenario, AHostIsNotFreedWhileSomethingWouldHarmTheNextJoin) {
    join();
    executor_.leftovers = {{"content of /var/lib/kubelet", "busy", true}};
    ask_for_release();
    advance(10s);
    EXPECT_EQ(phase(), Phase::releasing);
    EXPECT_THAT(reported(kBootstrapped).message, HasSubstr("busy"));
    EXPECT_TRUE(management_.find(kHost)->contains("/status/machineRef"_json_pointer));
    executor_.leftovers.clear();
    advance(10min);
    EXPECT_EQ(phase(), Phase::waiting);
}

TEST_F(Scenario, TheTimesOfConditionsAreOfTheServersClock) {
    management_.clock_offset = 2h;
    join();
    const std::string joined = rfc3339(time_.now() + 2h - 1min);
    EXPECT_GT(reported(kBootstrapped).since, joined);
    advance(1h);
    ask_for_release();
    advance(10s);
    EXPECT_GT(reported(kBootstrapped).since, rfc3339(time_.now() + 2h - 1min)) << "freed";
}

TEST_F(Scenario, ConditionsOfOthersKeepAllTheirFields) {
    start();
    json conditions = management_.find(kHost)->at("/status/conditions"_json_pointer);
    conditions.push_back({{"type", "Theirs"}, {"status", "True"}, {"observedGeneration", 7}});
    management_.patch(kHost, {{"status", {{"conditions", conditions}}}});
    make_secret();
    assign();
    advance(10s);
    bool found = false;
    for (const json& each : management_.find(kHost)->at("/status/conditions"_json_pointer)) {
        if (each.at("type") == "Theirs") found = each.value("observedGeneration", 0) == 7;
    }
    EXPECT_TRUE(found);
}

TEST_F(Scenario, AtRestNothingIsAskedOrWritten) {
    join();
    advance(3min);  // until nobody waits for the bookmarks that this server never sends
    const auto patches = management_.patches.size();
    const auto requests = workload_.requests.size();
    advance(20min);
    EXPECT_EQ(management_.patches.size(), patches);
    EXPECT_EQ(workload_.requests.size(), requests);
}

}  // namespace
}  // namespace kubexm::agent
