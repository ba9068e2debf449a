#include <filesystem>

#include "harness/harness.hpp"

// Behaviours of a host over time: events in, decisions, plans and conditions out.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using model::ConditionStatus;
using model::Phase;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
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
    EXPECT_THAT(reported(kBootstrapped).message, HasSubstr("as it was"));
    EXPECT_FALSE(management_.find(kHost)->contains("/status/machineRef"_json_pointer));
    EXPECT_FALSE(state().memory.joined);
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

TEST_F(Scenario, TheProgressOfAJoinIsReported) {
    start();
    make_secret();
    executor_.holds_plans = true;
    assign();
    advance(10s);
    EXPECT_EQ(reported(kAssignmentApplied).reason, "Joining");
    EXPECT_THAT(reported(kAssignmentApplied).message, HasSubstr("steps done"));
}

// --- changed orders

TEST_F(Scenario, ChangedLabelsArePatchedAndAppliedWithoutTheSecret) {
    join();
    management_.erase(kSecret);
    management_.patch(kHost, {{"spec", {{"labels", {{"team", "red"}}}}}});
    advance(10s);
    ASSERT_THAT(executor_.applied, SizeIs(2));
    EXPECT_EQ(executor_.applied[1].owner, "machine-u1");
    EXPECT_EQ(workload_.find(kNode)->at("/metadata/labels/team"_json_pointer), "red");
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(reported(kBootstrapped).status, ConditionStatus::yes);
    management_.patch(kHost, {{"spec", {{"labels", {{"team", nullptr}}}}}});
    advance(10s);
    EXPECT_FALSE(workload_.find(kNode)->contains("/metadata/labels/team"_json_pointer));
}

TEST_F(Scenario, ALabelIsRemovedThatAKilledProcessHasSet) {
    join();
    std::string memory;
    workload_.on_change = [&](const std::string& path) {
        const json* node = path == kNode && memory.empty() ? workload_.find(kNode) : nullptr;
        if (node == nullptr || !node->contains("/metadata/labels/team"_json_pointer)) return;
        memory = directory_.read("memory.json");
    };
    management_.patch(kHost, {{"spec", {{"labels", {{"team", "red"}}}}}});
    advance(10s);
    ASSERT_EQ(workload_.find(kNode)->at("/metadata/labels/team"_json_pointer), "red");
    workload_.on_change = [](const std::string&) {};
    agent_.reset();
    directory_.write("memory.json", memory);  // killed before it knew that the label is set
    start();
    advance(10s);
    management_.patch(kHost, {{"spec", {{"labels", {{"team", nullptr}}}}}});
    advance(10s);
    EXPECT_FALSE(workload_.find(kNode)->contains("/metadata/labels/team"_json_pointer));
}

TEST_F(Scenario, ChangedKubeletSettingsAreAppliedWithinTheHour) {
    join();
    make_secret(
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 42\n");
    advance(2h);
    ASSERT_THAT(executor_.applied, SizeIs(2));
    EXPECT_NE(executor_.applied[0].wanted, executor_.applied[1].wanted);
    advance(10h);
    EXPECT_THAT(executor_.applied, SizeIs(2)) << "unchanged settings lead to no plan";
}

TEST_F(Scenario, AServerThatIsNotTrustedLeadsToTheNewCaOfTheSecret) {
    join();
    const std::string before = state().memory.joined.value_or(JoinedMachine{}).wanted.ca_digest;
    std::string kubeconfig = workload_.kubeconfig("token");
    const std::string ca = base64(workload_.ca());
    kubeconfig.replace(kubeconfig.find(ca), ca.size(), base64(workload_.ca() + other_.ca()));
    management_.patch(kSecret, {{"data", {{"bootstrap-kubeconfig", base64(kubeconfig)}}}});
    const std::string read_secret = std::string("GET ") + kSecret;
    const std::size_t before_outage = count_requests(management_, read_secret);
    workload_.untrusted = true;
    workload_.set_available(false);
    advance(1min);
    EXPECT_EQ(count_requests(management_, read_secret), before_outage + 1);
    workload_.set_available(true);
    advance(10min);
    EXPECT_EQ(phase(), Phase::joined);
    ASSERT_THAT(executor_.applied, SizeIs(2));
    EXPECT_NE(state().memory.joined.value_or(JoinedMachine{}).wanted.ca_digest, before);
}

TEST_F(Scenario, ChangedTaintsAreReportedWithTheCommand) {
    join();
    management_.patch(
        kHost, {{"spec",
                 {{"taints",
                   json::array({{{"key", "gpu"}, {"value", "a"}, {"effect", "NoSchedule"}}})}}}});
    advance(10s);
    EXPECT_EQ(reported(kAssignmentApplied).status, ConditionStatus::no);
    EXPECT_THAT(reported(kAssignmentApplied).message,
                HasSubstr("kubectl taint nodes h1 gpu=a:NoSchedule"));
    EXPECT_THAT(executor_.applied, SizeIs(2)) << "in the unit, for the next registration";
}

TEST_F(Scenario, AChangedVersionIsReportedAsNotPossible) {
    join();
    management_.patch(
        kHost,
        {{"metadata",
          {{"annotations", {{"byoh.infrastructure.cluster.x-k8s.io/k8sversion", "v1.35.0"}}}}}});
    advance(10s);
    EXPECT_THAT(reported(kAssignmentApplied).message, HasSubstr("v1.35.0 is wanted"));
    EXPECT_THAT(executor_.applied, SizeIs(1));
    EXPECT_EQ(phase(), Phase::joined);
}

TEST_F(Scenario, OrdersThatChangeDuringAJoinAreUsed) {
    start();
    make_secret();
    executor_.holds_plans = true;
    assign();
    advance(5s);
    ASSERT_THAT(executor_.applied, SizeIs(1));
    management_.patch(kHost, {{"spec", {{"labels", {{"team", "red"}}}}}});
    advance(1s);
    executor_.holds_plans = false;
    executor_.end_plan(model::PlanState::done);
    advance(10s);
    ASSERT_THAT(executor_.applied, SizeIs(2));
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(workload_.find(kNode)->at("/metadata/labels/team"_json_pointer), "red");
}

// --- a joined node stays a node

TEST_F(Scenario, AHealthyNodeWithoutItsSecretIsNeverReportedFailed) {
    join();
    management_.erase(kSecret);
    advance(5h);
    restart();
    advance(5h);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(reported(kBootstrapped).status, ConditionStatus::yes);
    EXPECT_THAT(executor_.applied, SizeIs(1));
}

TEST_F(Scenario, PlansOfRootDoNotHideTheNode) {
    join();
    for (int i = 0; i < 60; ++i) executor_.apply_as_root("root-" + std::to_string(i));
    restart();
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(executor_.applied, SizeIs(1));
}

TEST_F(Scenario, ARestartWithoutTheManagementClusterKnowsTheNode) {
    join();
    management_.set_available(false);
    restart();
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
    const auto assignment = snapshot().assignment.value_or(model::AssignmentView{});
    EXPECT_EQ(assignment.cluster, "blue");
    EXPECT_EQ(assignment.server, "https://workload:6443");
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::yes);
    EXPECT_THAT(snapshot().certificates, SizeIs(2));
    set_node("False");
    advance(10s);
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::no);
    management_.set_available(true);
    advance(10min);
    EXPECT_EQ(reported(kNodeReady).status, ConditionStatus::no);
    EXPECT_EQ(reported(kBootstrapped).status, ConditionStatus::yes) << "the contract's meaning";
}

TEST_F(Scenario, ANodeThatIsNotReadyAnyMoreIsReported) {
    join();
    set_node("False");
    advance(10s);
    EXPECT_EQ(reported(kNodeReady).status, ConditionStatus::no);
    EXPECT_THAT(reported(kNodeReady).message, HasSubstr("kubelet says so"));
    EXPECT_EQ(phase(), Phase::joined);
}

TEST_F(Scenario, AnUnchangedNodeIsReadyAgainAfterAnOutage) {
    join();
    workload_.set_available(false);
    advance(10s);
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::unknown);
    workload_.set_available(true);
    advance(10min);
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::yes);
}

TEST_F(Scenario, ARefusedNodeCertificateIsReplaced) {
    join();
    const auto serial = snapshot().certificates.back().serial;
    workload_.refuse_status = 401;
    workload_.set_available(false);
    advance(1s);
    workload_.set_available(true);
    advance(2min);
    workload_.refuse_status = 0;
    advance(30min);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::yes);
    EXPECT_EQ(snapshot().certificates.size(), 2U);
    EXPECT_EQ(serial.empty(), false);
}

TEST_F(Scenario, ALostNodeCertificateIsReplacedOnce) {
    join();
    std::filesystem::remove(directory_ / "machine-u1.kubeconfig");
    restart();
    advance(10min);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::yes);
    EXPECT_EQ(count_requests(workload_, "POST"), 2U);
    EXPECT_THAT(executor_.applied, SizeIs(2));
}

TEST_F(Scenario, ARestartOfTheExecutorIsNoFailure) {
    start();
    make_secret();
    executor_.holds_plans = true;
    assign();
    advance(5s);
    lose_executor();
    EXPECT_EQ(reported(kBootstrapped).reason, "Joining");
    advance(30s);
    EXPECT_EQ(reported(kBootstrapped).reason, "Joining");
    EXPECT_EQ(phase(), Phase::joining);
    regain_executor();
    advance(5s);
    executor_.end_plan(model::PlanState::done);
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(executor_.applied, SizeIs(1));
}

TEST_F(Scenario, AFailedJoinIsReportedAndRetried) {
    start();
    make_secret();
    executor_.fails_with = "disk full";
    assign();
    advance(1s);
    EXPECT_EQ(reported(kBootstrapped).reason, "CloudInitExecutionFailed");
    EXPECT_THAT(reported(kBootstrapped).message, HasSubstr("disk full"));
    executor_.fails_with.clear();
    advance(10min);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(reported(kBootstrapped).status, ConditionStatus::yes);
}

TEST_F(Scenario, TheNameOfTheFirstRegistrationStays) {
    join();
    facts_.name = "renamed";
    restart();
    advance(10s);
    EXPECT_EQ(snapshot().host.name, "h1");
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(reported(kHostNameUnchanged).message, HasSubstr("renamed"));
}

// --- repair

const wire::DriftedObject kStopped{"machine-u1", "unit kubelet.service", "inactive"};

TEST_F(Scenario, DriftIsRepairedAtOnceWithoutTheManagementCluster) {
    join();
    management_.set_available(false);
    restart();
    executor_.set_drift({kStopped});
    settle();
    EXPECT_THAT(executor_.repaired, ElementsAre("machine-u1"));
    EXPECT_EQ(phase(), Phase::joined);
    advance(1h);
    EXPECT_THAT(executor_.repaired, SizeIs(1));
    EXPECT_EQ(shown(kHostAsApplied).type, "") << "nothing differs any more";
}

TEST_F(Scenario, SomebodyWhoKeepsChangingItBackIsMetWithBackOff) {
    join();
    for (int i = 0; i < 200; ++i) {
        executor_.set_drift({kStopped});
        advance(5s);
    }
    EXPECT_GT(executor_.repaired.size(), 3U);
    EXPECT_LT(executor_.repaired.size(), 12U);
    EXPECT_EQ(reported(kHostAsApplied).status, ConditionStatus::no);
    EXPECT_THAT(reported(kHostAsApplied).message, HasSubstr("kubexmctl pause"));
    executor_.set_drift({});
    advance(1h);
    EXPECT_EQ(reported(kHostAsApplied).status, ConditionStatus::yes);
    executor_.set_drift({kStopped});
    const auto before = executor_.repaired.size();
    settle();
    EXPECT_EQ(executor_.repaired.size(), before + 1) << "the row of repairs is forgotten";
}

TEST_F(Scenario, AnotherObjectIsRepairedAtOnce) {
    join();
    executor_.set_drift({kStopped});
    settle();
    executor_.set_drift({{"machine-u1", "file /var/lib/kubelet/config.yaml", "changed"}});
    settle();
    EXPECT_THAT(executor_.repaired, SizeIs(2));
    executor_.set_drift({kStopped});
    settle();
    EXPECT_THAT(executor_.repaired, SizeIs(2)) << "the same object again waits";
    ASSERT_TRUE(command(model::Verb::repair));
    EXPECT_THAT(executor_.repaired, SizeIs(3)) << "but not when a person asks";
}

TEST_F(Scenario, APauseStopsRepairs) {
    join();
    ASSERT_TRUE(command(model::Verb::pause));
    executor_.set_drift({kStopped});
    advance(1h);
    EXPECT_THAT(executor_.repaired, IsEmpty());
    EXPECT_THAT(reported(kHostAsApplied).message, HasSubstr("repair is paused"));
    ASSERT_TRUE(command(model::Verb::resume));
    EXPECT_THAT(executor_.repaired, SizeIs(1));
}

TEST_F(Scenario, DriftOfOtherOwnersIsLeftAlone) {
    join();
    executor_.set_drift({{"root", "file /etc/hosts", "changed"}});
    advance(1h);
    EXPECT_THAT(executor_.repaired, IsEmpty());
}

// --- a newer version

TEST_F(Scenario, ANewerRenderingIsShownAndChangesNothing) {
    join();
    executor_.pending = {"file /etc/systemd/system/kubelet.service", "file /etc/sysctl.d/x"};
    restart();
    advance(1h);
    EXPECT_EQ(shown(kRenderingCurrent).status, ConditionStatus::no);
    EXPECT_EQ(shown(kRenderingCurrent).severity, "Info");
    EXPECT_EQ(shown(kRenderingCurrent).reason, "NewerRenderingPending");
    EXPECT_THAT(shown(kRenderingCurrent).message,
                HasSubstr("file /etc/systemd/system/kubelet.service, file /etc/sysctl.d/x"));
    EXPECT_EQ(reported(kRenderingCurrent).type, "") << "of the local status only";
    EXPECT_EQ(shown(kHostAsApplied).type, "");
    EXPECT_THAT(executor_.applied, SizeIs(1));
    EXPECT_THAT(executor_.repaired, IsEmpty());
    EXPECT_EQ(phase(), Phase::joined);
}

TEST_F(Scenario, ANewerRenderingIsAppliedWithTheNextOrdersNotWithARepair) {
    join();
    executor_.pending = {"file /etc/systemd/system/kubelet.service"};
    executor_.set_drift({kStopped});
    advance(10s);
    EXPECT_THAT(executor_.repaired, SizeIs(1));
    const std::string since = shown(kRenderingCurrent).since;
    EXPECT_NE(since, "") << "the repair has changed nothing of it";
    executor_.set_drift({kStopped});
    advance(1min);
    EXPECT_EQ(shown(kRenderingCurrent).since, since) << "a new observation is no change";
    management_.patch(kHost, {{"spec", {{"labels", {{"team", "red"}}}}}});
    advance(10s);
    EXPECT_EQ(shown(kRenderingCurrent).type, "");
}

// --- a person's word

TEST_F(Scenario, APauseStopsNewOrdersAndEndsByItself) {
    join();
    EXPECT_THAT(command(model::Verb::pause, 2h).value(), HasSubstr("paused until"));
    EXPECT_EQ(phase(), Phase::paused);
    management_.patch(kHost, {{"spec", {{"labels", {{"team", "red"}}}}}});
    advance(1h);
    restart();
    EXPECT_EQ(phase(), Phase::paused);
    EXPECT_THAT(executor_.applied, SizeIs(1));
    EXPECT_EQ(reported(kNotPaused).status, ConditionStatus::no);
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::yes) << "the node is still watched";
    advance(70min);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(executor_.applied, SizeIs(2));
    EXPECT_EQ(reported(kNotPaused).status, ConditionStatus::yes);
}

TEST_F(Scenario, ResumeEndsAPauseWithoutEnd) {
    join();
    ASSERT_TRUE(command(model::Verb::pause));
    ask_for_release();
    advance(48h);
    EXPECT_THAT(executor_.undone, IsEmpty());
    ASSERT_TRUE(command(model::Verb::resume));
    advance(10s);
    EXPECT_THAT(executor_.undone, ElementsAre("machine-u1"));
}

TEST_F(Scenario, LeaveReleasesAndStaysUntilTheOrdersChange) {
    join();
    ASSERT_TRUE(command(model::Verb::pause));
    ASSERT_TRUE(command(model::Verb::leave)) << "a pause does not stop an explicit leave";
    advance(10s);
    EXPECT_THAT(executor_.undone, ElementsAre("machine-u1"));
    EXPECT_EQ(workload_.find(kNode), nullptr);
    EXPECT_EQ(phase(), Phase::paused);
    ASSERT_TRUE(command(model::Verb::pause, 1s)) << "the newer pause counts";
    advance(10s);
    EXPECT_EQ(phase(), Phase::held);
    advance(5h);
    restart();
    EXPECT_THAT(executor_.applied, SizeIs(1));
    EXPECT_THAT(reported(kAssignmentApplied).message, HasSubstr("kubexmctl resume"));
    assign("u2", "workers-2");
    advance(10s);
    EXPECT_THAT(executor_.applied, SizeIs(2));
    EXPECT_EQ(phase(), Phase::joined);
}

TEST_F(Scenario, LeaveWithoutANodeIsRefused) {
    start();
    EXPECT_EQ(command(model::Verb::leave).error().code, Code::conflict);
    EXPECT_EQ(command(model::Verb::adopt).error().code, Code::conflict);
}

TEST_F(Scenario, AnUndoByRootStaysUntilResume) {
    join();
    executor_.undo_as_root("machine-u1");
    advance(5h);
    EXPECT_THAT(executor_.applied, SizeIs(1));
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_THAT(reported(kAssignmentApplied).message, HasSubstr("root undid"));
    ASSERT_TRUE(command(model::Verb::resume));
    advance(10s);
    EXPECT_THAT(executor_.applied, SizeIs(2));
}

TEST_F(Scenario, AnUndoByRootIsForgottenWhenTheOrdersChange) {
    join();
    executor_.undo_as_root("machine-u1");
    advance(10s);
    EXPECT_EQ(phase(), Phase::held);
    management_.patch(kHost, {{"status", {{"machineRef", nullptr}}}});
    advance(10s);
    EXPECT_EQ(phase(), Phase::waiting);
    assign();
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
    executor_.undo_as_root("machine-u1");
    advance(10s);
    EXPECT_EQ(phase(), Phase::held);
    assign("u2", "workers-2");
    advance(10s);
    ask_for_release();
    advance(10s);
    assign();
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
}

// --- held

TEST_F(Scenario, AStaleReleaseOrderOfARestoredClusterIsHeld) {
    join();
    auto backup = *management_.find(kHost);
    backup["metadata"]["annotations"]["byoh.infrastructure.cluster.x-k8s.io/unregistering"] = "";
    backup["status"]["machineRef"] = {
        {"namespace", "default"}, {"name", "workers-0"}, {"uid", "u0"}};
    management_.put(kHost, backup);
    advance(10s);
    EXPECT_THAT(executor_.undone, IsEmpty());
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_EQ(reported(kAssignmentApplied).reason, "StaleReleaseOrder");
}

TEST_F(Scenario, AReleaseOfAByoHostThatWasDeletedAndRegisteredAgainIsFollowed) {
    join();
    management_.erase(kHost);
    advance(1min);
    EXPECT_EQ(phase(), Phase::held) << "the new ByoHost names no machine";
    ask_for_release();
    advance(10s);
    EXPECT_THAT(executor_.undone, ElementsAre("machine-u1"));
}

TEST_F(Scenario, AnOldVersionIsTheTruthAfterAWhile) {
    join();
    auto restored = *management_.find(kHost);
    restored["status"]["machineRef"] = nullptr;
    restored["metadata"]["annotations"]["byoh.infrastructure.cluster.x-k8s.io/unregistering"] = "";
    restored["metadata"]["labels"].erase("byoh.infrastructure.cluster.x-k8s.io/byomachine-name");
    management_.restore(kHost, restored, 60);
    advance(1min);
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_THAT(reported(kAssignmentApplied).message, HasSubstr("restored from a backup"));
    EXPECT_THAT(executor_.undone, IsEmpty());
}

TEST_F(Scenario, AMovedManagementClusterAdoptsTheNode) {
    join();
    auto moved = *management_.find(kHost);
    moved["metadata"]["uid"] = "uid-after-move";
    moved["status"]["machineRef"]["uid"] = "u9";
    management_.put(kHost, moved);
    advance(10s);
    ASSERT_THAT(executor_.applied, SizeIs(2));
    EXPECT_EQ(executor_.applied[1].owner, "machine-u9");
    EXPECT_THAT(executor_.undone, ElementsAre("machine-u1"));
    EXPECT_NE(workload_.find(kNode), nullptr) << "the Node was never deleted";
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(count_requests(workload_, "POST"), 1U) << "the certificate is kept";
    ask_for_release();
    advance(10s);
    EXPECT_THAT(executor_.undone, ElementsAre("machine-u1", "machine-u9"));
    EXPECT_EQ(phase(), Phase::waiting);
}

TEST_F(Scenario, AnotherMachineIsHeldUntilAPersonAdopts) {
    join();
    assign("u2", "workers-2");
    advance(5h);
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_THAT(executor_.applied, SizeIs(1));
    EXPECT_THAT(reported(kAssignmentApplied).message, HasSubstr("kubexmctl adopt"));
    ASSERT_TRUE(command(model::Verb::adopt));
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_TRUE(executor_.has("machine-u2"));
    EXPECT_FALSE(executor_.has("machine-u1"));
}

TEST_F(Scenario, AnAdoptionThatIsKilledBeforeItsPlanRemovesOldLabels) {
    join();
    management_.patch(kHost, {{"spec", {{"labels", {{"team", "red"}}}}}});
    advance(10s);
    patch_assignment("u2", "workers-2");
    management_.patch(kHost, {{"spec", {{"labels", {{"team", nullptr}}}}}});
    settle();
    begin_adoption();
    const auto remembers = [&] {
        return state().memory.joined.value_or(JoinedMachine{}).owner == "machine-u2";
    };
    for (int i = 0; i < 1000 && !remembers(); ++i) turn(1);
    ASSERT_TRUE(remembers());
    kill_before_executor_is_asked();
    start();
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_TRUE(executor_.has("machine-u2"));
    EXPECT_FALSE(workload_.find(kNode)->contains("/metadata/labels/team"_json_pointer));
}

TEST_F(Scenario, AnAdoptionThatIsKilledDuringItsUndoKeepsTheCertificate) {
    join();
    assign("u2", "workers-2");
    executor_.holds_plans = true;
    begin_adoption();
    settle();
    executor_.end_plan(model::PlanState::done);
    settle();
    ASSERT_THAT(executor_.undone, ElementsAre("machine-u1"));
    management_.set_available(false);
    restart();
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined) << "the new machine's node is complete";
    management_.set_available(true);
    advance(10min);
    executor_.end_plan(model::PlanState::undone);
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(executor_.applied, SizeIs(2));
    EXPECT_EQ(count_requests(workload_, "POST"), 1U) << "the certificate is kept";
    EXPECT_FALSE(std::filesystem::exists(directory_ / "machine-u1.kubeconfig"));
}

// --- release

TEST_F(Scenario, WhatStaysIsReported) {
    join();
    executor_.stays = {{"file /etc/cni/net.d/10-x.conf", "somebody changed it", false}};
    ask_for_release();
    advance(10s);
    EXPECT_EQ(phase(), Phase::waiting);
    EXPECT_THAT(reported(kBootstrapped).message, HasSubstr("/etc/cni/net.d/10-x.conf stays"));
    EXPECT_THAT(reported(kBootstrapped).message, Not(HasSubstr("as it was")));
}

TEST_F(Scenario, AHostIsNotFreedWhileSomethingWouldHarmTheNextJoin) {
    join();
    executor_.stays = {{"mount /var/lib/kubelet/pods/x", "busy", true}};
    ask_for_release();
    advance(10s);
    EXPECT_EQ(phase(), Phase::releasing);
    EXPECT_THAT(reported(kBootstrapped).message, HasSubstr("busy"));
    EXPECT_TRUE(management_.find(kHost)->contains("/status/machineRef"_json_pointer));
    executor_.stays.clear();
    advance(10min);
    EXPECT_EQ(phase(), Phase::waiting);
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
    advance(1min);
    const auto patches = management_.patches.size();
    const auto requests = workload_.requests.size();
    advance(20min);
    EXPECT_EQ(management_.patches.size(), patches);
    EXPECT_EQ(workload_.requests.size(), requests);
}

}  // namespace
}  // namespace kubexm::agent
