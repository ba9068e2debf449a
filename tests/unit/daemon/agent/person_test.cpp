#include <algorithm>
#include <filesystem>

#include "harness/harness.hpp"

// Commands of a person: pause, resume, leave, and an undo by root.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using model::ConditionStatus;
using model::Phase;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class PersonsWord : public Harness {
protected:
    /// The node's key and certificates in kubexmd's directory.
    bool has_machine_files() const {
        return std::ranges::any_of(
            std::filesystem::directory_iterator(directory_.path()), [](const auto& each) {
                return each.path().filename().string().starts_with("machine-");
            });
    }
};

TEST_F(PersonsWord, APauseStopsNewOrdersAndEndsByItself) {
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

TEST_F(PersonsWord, APauseEndsByTheClockAlsoWhereItWasSetOrTheHostSlept) {
    join();
    ASSERT_TRUE(command(model::Verb::pause, 2h));
    time_.set_clock(3h);
    agent_->on_wakeup();
    settle();
    EXPECT_EQ(phase(), Phase::joined);
    ASSERT_TRUE(command(model::Verb::pause, 2h));
    time_.set_clock(-1h);
    advance(150min);
    EXPECT_EQ(phase(), Phase::paused) << "half an hour is left";
    advance(31min);
    EXPECT_EQ(phase(), Phase::joined);
}

TEST_F(PersonsWord, AChangeOfTheStateDuringAPauseShowsWhenItEnds) {
    join();
    ASSERT_TRUE(command(model::Verb::pause, 2h));
    time_.set_clock(90min);
    set_node("False");
    advance(31min);
    EXPECT_EQ(phase(), Phase::joined);
}

TEST_F(PersonsWord, APauseStopsThePlanThatRunsAndChangesNoLabels) {
    join();
    executor_.holds_plans = true;
    management_.patch(kHost, {{"spec", {{"labels", {{"team", "red"}}}}}});
    advance(1s);
    ASSERT_THAT(executor_.applied, SizeIs(2));
    ASSERT_TRUE(command(model::Verb::pause));
    advance(10s);
    EXPECT_THAT(executor_.cancelled, ElementsAre(executor_.applied[1].id));
    management_.patch(kHost, {{"spec", {{"labels", {{"team", "blue"}}}}}});
    advance(1h);
    EXPECT_NE(workload_.find(kNode)->value("/metadata/labels/team"_json_pointer, ""), "blue");
    EXPECT_EQ(reported(kBootstrapped).status, ConditionStatus::yes);
    EXPECT_EQ(reported(kAssignmentApplied).status, ConditionStatus::no) << "nothing was applied";
    executor_.holds_plans = false;
    ASSERT_TRUE(command(model::Verb::resume));
    advance(10s);
    EXPECT_EQ(workload_.find(kNode)->at("/metadata/labels/team"_json_pointer), "blue");
    EXPECT_EQ(reported(kAssignmentApplied).status, ConditionStatus::yes);
}

TEST_F(PersonsWord, ManyCasAndAPauseSurviveARestart) {
    const std::string ca = workload_.ca();
    std::string bundle;
    while (bundle.size() < 20'000) bundle += ca;
    start();
    make_secret();
    std::string kubeconfig = workload_.kubeconfig("token");
    kubeconfig.replace(kubeconfig.find(base64(ca)), base64(ca).size(), base64(bundle));
    management_.patch(kSecret, {{"data", {{"bootstrap-kubeconfig", base64(kubeconfig)}}}});
    assign();
    advance(10s);
    ASSERT_EQ(phase(), Phase::joined);
    ASSERT_TRUE(command(model::Verb::pause));
    restart();
    EXPECT_EQ(phase(), Phase::paused);
}

TEST_F(PersonsWord, ResumeEndsAPauseWithoutEnd) {
    join();
    ASSERT_TRUE(command(model::Verb::pause));
    ask_for_release();
    advance(48h);
    EXPECT_THAT(executor_.undone, IsEmpty());
    ASSERT_TRUE(command(model::Verb::resume));
    advance(10s);
    EXPECT_THAT(executor_.undone, ElementsAre("machine-u1"));
}

TEST_F(PersonsWord, ARestartWithoutTheExecutorKnowsThePause) {
    join();
    ASSERT_TRUE(command(model::Verb::pause, 2h));
    executor_.connected = false;
    restart();
    EXPECT_EQ(phase(), Phase::paused);
    EXPECT_EQ(snapshot().pause.value_or(model::PauseView{}).uid, kPerson);
    advance(121min);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_FALSE(snapshot().pause);
}

TEST_F(PersonsWord, ARestartDuringALeaveKnowsIt) {
    join();
    executor_.holds_plans = true;
    ASSERT_TRUE(command(model::Verb::pause));
    ASSERT_TRUE(command(model::Verb::leave));
    agent_.reset();
    executor_.connected = false;
    begin();
    EXPECT_EQ(phase(), Phase::releasing) << "from the first status on";
    settle();
    EXPECT_EQ(phase(), Phase::releasing);
    EXPECT_FALSE(snapshot().pause) << "a leave goes first";
    EXPECT_FALSE(state().node) << "nothing is done for the Node";
    regain_executor();
    EXPECT_EQ(phase(), Phase::releasing);
}

/// Whose status a person waits for, also where the orders are not known.
TEST_F(PersonsWord, ALeaveEndsWithoutTheManagementCluster) {
    join();
    executor_.holds_plans = true;
    ASSERT_TRUE(command(model::Verb::leave));
    management_.set_available(false);
    restart();
    EXPECT_EQ(phase(), Phase::releasing);
    executor_.holds_plans = false;
    executor_.end_plan(model::PlanState::undone);
    advance(10min);
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_EQ(shown(kAssignmentApplied).reason, "ReleasedByPerson");
    restart();
    EXPECT_EQ(phase(), Phase::held);
    management_.set_available(true);
    advance(10min);
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_THAT(executor_.applied, SizeIs(1));
}

TEST_F(PersonsWord, LeaveReleasesAndStaysUntilTheOrdersChange) {
    join();
    executor_.stays = {{"chain KUBE-X", "it is in use", false}};
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
    EXPECT_THAT(reported(kBootstrapped).message, HasSubstr("chain KUBE-X stays: it is in use"));
    for (const auto type : {kBootstrapped, kInstalled, kNodeReady}) {
        EXPECT_EQ(reported(type).status, ConditionStatus::no) << type;
        EXPECT_EQ(reported(type).reason, kNodeAbsent) << type;
    }
    assign("u2", "workers-2");
    advance(10s);
    EXPECT_THAT(executor_.applied, SizeIs(2));
    EXPECT_EQ(phase(), Phase::joined);
}

TEST_F(PersonsWord, ALeaveWhileTheCertificateWaitsEndsTheJoin) {
    start();
    make_secret();
    workload_.approves = false;
    assign();
    advance(10s);
    ASSERT_EQ(phase(), Phase::joining);
    EXPECT_THAT(command(model::Verb::leave).value(), HasSubstr("machine-u1"));
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_EQ(shown(kAssignmentApplied).reason, "ReleasedByPerson");
    EXPECT_FALSE(has_machine_files());
    workload_.approves = true;
    workload_.approve_all();
    advance(5h);
    restart();
    advance(1h);
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_THAT(executor_.applied, IsEmpty());
    EXPECT_THAT(executor_.undone, IsEmpty());
    ASSERT_TRUE(command(model::Verb::resume));
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
}

TEST_F(PersonsWord, ALeaveDuringThePlanOfAJoinIsNotOverBeforeItsUndo) {
    start();
    make_secret();
    executor_.holds_plans = true;
    assign();
    ASSERT_THAT(executor_.applied, SizeIs(1));
    executor_.holds_observations = true;
    ASSERT_TRUE(command(model::Verb::leave));
    EXPECT_EQ(phase(), Phase::releasing) << "what the plan has changed is not known yet";
    executor_.answer_observations();
    executor_.holds_plans = false;
    advance(1min);
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_FALSE(executor_.has("machine-u1"));
}

TEST_F(PersonsWord, ALeaveBeforeThereIsASecretIsRemembered) {
    start();
    patch_assignment();
    management_.patch(kHost, {{"spec", {{"bootstrapSecret", nullptr}}}});
    settle();
    ASSERT_EQ(phase(), Phase::joining);
    ASSERT_TRUE(command(model::Verb::leave));
    make_secret();
    assign();
    advance(1h);
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_THAT(executor_.applied, IsEmpty());
    assign("u2", "workers-2");
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined) << "other orders";
}

TEST_F(PersonsWord, AfterALeaveTheKeyOfTheNodeIsGone) {
    join();
    ASSERT_TRUE(has_machine_files());
    ASSERT_TRUE(command(model::Verb::leave));
    advance(10s);
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_FALSE(has_machine_files());
    ASSERT_TRUE(command(model::Verb::resume));
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(count_requests(workload_, "POST"), 2U) << "a new certificate";
}

TEST_F(PersonsWord, AfterALeaveDuringAPauseTheKeyOfTheNodeIsGone) {
    join();
    ASSERT_TRUE(command(model::Verb::pause));
    ASSERT_TRUE(command(model::Verb::leave));
    advance(10s);
    EXPECT_EQ(phase(), Phase::paused);
    EXPECT_FALSE(has_machine_files());
}

TEST_F(PersonsWord, AfterAnUndoByRootTheKeyStaysUntilTheNodeIsDeleted) {
    join();
    executor_.undo_as_root("machine-u1");
    ASSERT_TRUE(command(model::Verb::pause));
    restart();
    ASSERT_TRUE(command(model::Verb::resume));
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined) << "resume";
    executor_.undo_as_root("machine-u1");
    advance(10s);
    ASSERT_EQ(phase(), Phase::held);
    ASSERT_NE(workload_.find(kNode), nullptr);
    ask_for_release();
    advance(10s);
    EXPECT_EQ(phase(), Phase::waiting);
    EXPECT_EQ(workload_.find(kNode), nullptr);
    EXPECT_FALSE(has_machine_files());
}

/// The memory cannot be written for a while.
class FullDisk : public PersonsWord {
protected:
    void fill_disk() {
        std::filesystem::remove(directory_ / "memory.json");
        std::filesystem::create_directory(directory_ / "memory.json");
    }
    void free_disk() {
        std::filesystem::remove(directory_ / "memory.json");
        advance(10min);
    }
};

TEST_F(FullDisk, AReleaseEndsAndIsWrittenLater) {
    join();
    executor_.holds_plans = true;
    ask_for_release();
    fill_disk();
    executor_.end_plan(model::PlanState::undone);
    executor_.holds_plans = false;
    advance(10min);
    EXPECT_FALSE(management_.find(kHost)->contains("/status/machineRef"_json_pointer));
    EXPECT_EQ(phase(), Phase::waiting);
    EXPECT_FALSE(state().memory.joined);
    EXPECT_FALSE(has_machine_files());
    free_disk();
    EXPECT_THAT(directory_.read("memory.json"),
                testing::AllOf(HasSubstr("host_name"), testing::Not(HasSubstr("joined"))));
    EXPECT_THAT(events("ResetK8sNodeSucceeded"), SizeIs(1));
    assign("u2", "workers-2");
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
}

TEST_F(FullDisk, ALeaveIsFollowedAndWrittenLater) {
    join();
    fill_disk();
    EXPECT_THAT(command(model::Verb::leave).value(),
                testing::AllOf(HasSubstr("releasing machine-u1"), HasSubstr("restart of kubexmd"),
                               HasSubstr("memory.json")));
    advance(10min);
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_FALSE(state().memory.joined);
    EXPECT_THAT(executor_.undone, ElementsAre("machine-u1"));
    free_disk();
    restart();
    advance(10min);
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_THAT(executor_.applied, SizeIs(1));
}

TEST_F(FullDisk, AHostThatWaitsForgetsItsMachineLater) {
    join();
    const std::string memory = directory_.read("memory.json");
    ask_for_release();
    advance(10s);
    agent_.reset();
    directory_.write("memory.json", memory);  // killed before the end of the memory
    begin();
    fill_disk();
    advance(1min);
    EXPECT_EQ(phase(), Phase::waiting);
    free_disk();
    EXPECT_THAT(directory_.read("memory.json"),
                testing::AllOf(HasSubstr("host_name"), testing::Not(HasSubstr("machine-u1"))));
}

TEST_F(PersonsWord, TheExecutorLearnsWhoseWordItFollows) {
    join();
    EXPECT_THAT(executor_.askers, ElementsAre("apply for user 0, management"));
    executor_.askers.clear();
    for (int i = 0; i < 4; ++i) {
        executor_.set_drift({{"machine-u1", "unit kubelet.service", "inactive"}});
        settle();
    }
    EXPECT_THAT(executor_.askers, testing::AllOf(SizeIs(3), testing::Each("repair for nobody")))
        << "kubexmd's own";
    ASSERT_TRUE(command(model::Verb::repair));
    EXPECT_EQ(executor_.askers.back(), "repair for user 4711, control");
    ASSERT_TRUE(command(model::Verb::renew));
    advance(1min);
    EXPECT_EQ(executor_.askers.back(), "apply for user 4711, control");
    executor_.askers.clear();
    assign("u2", "workers-2");
    ASSERT_TRUE(command(model::Verb::adopt));
    EXPECT_THAT(executor_.askers,
                ElementsAre("apply for user 4711, control", "undo for user 4711, control"));
    executor_.askers.clear();
    ASSERT_TRUE(command(model::Verb::leave));
    EXPECT_THAT(executor_.askers, ElementsAre("undo for user 4711, control"));
    ASSERT_TRUE(command(model::Verb::resume));
    executor_.askers.clear();
    ask_for_release();
    EXPECT_THAT(executor_.askers, ElementsAre("undo for user 0, management"));
}

TEST_F(PersonsWord, APauseCancelsTheRunningPlanAndSaysForWhom) {
    start();
    make_secret();
    executor_.holds_plans = true;
    assign();
    ASSERT_THAT(executor_.applied, SizeIs(1));
    ASSERT_TRUE(command(model::Verb::pause));
    EXPECT_THAT(executor_.cancelled, ElementsAre(executor_.applied.front().id));
    EXPECT_EQ(executor_.askers.back(), "cancel for user 4711, control");
    EXPECT_EQ(phase(), Phase::paused);
    executor_.holds_plans = false;
    ASSERT_TRUE(command(model::Verb::resume));
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
}

TEST_F(PersonsWord, APlanThatAKilledProcessHasBegunIsCancelledForAPause) {
    start();
    make_secret();
    executor_.holds_plans = true;
    assign();
    ASSERT_THAT(executor_.applied, SizeIs(1));
    begin(model::Verb::pause);
    turn(1);
    kill_before_executor_is_asked();
    ASSERT_THAT(executor_.cancelled, IsEmpty());
    start();
    EXPECT_THAT(executor_.cancelled, ElementsAre(executor_.applied.front().id));
    EXPECT_EQ(phase(), Phase::paused);
    advance(1h);
    EXPECT_THAT(executor_.cancelled, SizeIs(1));
}

TEST_F(PersonsWord, ARenewalGoesOnDuringAPause) {
    join();
    executor_.holds_plans = true;
    ASSERT_TRUE(command(model::Verb::pause));
    ASSERT_TRUE(command(model::Verb::renew));
    advance(1min);
    ASSERT_THAT(executor_.applied, SizeIs(2));
    restart();
    EXPECT_THAT(executor_.cancelled, IsEmpty());
}

TEST_F(PersonsWord, APauseByTheManagementClusterCancelsTheRunningPlan) {
    start();
    make_secret();
    executor_.holds_plans = true;
    assign();
    management_.patch(kHost, {{"metadata", {{"annotations", {{"cluster.x-k8s.io/paused", ""}}}}}});
    settle();
    EXPECT_THAT(executor_.cancelled, SizeIs(1));
    EXPECT_EQ(executor_.askers.back(), "cancel for user 0, management");
}

TEST_F(PersonsWord, WithoutANodeThereIsNothingToLeave) {
    start();
    EXPECT_EQ(command(model::Verb::leave).error().code, Code::not_found);
    EXPECT_EQ(command(model::Verb::adopt).error().code, Code::conflict);
}

TEST_F(PersonsWord, AnUndoByRootStaysUntilResume) {
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

/// `kubexmctl leave` without kubexmd.
TEST_F(PersonsWord, AnUndoByRootBeforeKubexmdStartsStaysUntilResume) {
    join();
    agent_.reset();
    executor_.undo_as_root("machine-u1");
    start();
    advance(5h);
    EXPECT_THAT(executor_.applied, SizeIs(1));
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_NE(workload_.find(kNode), nullptr);
    EXPECT_THAT(reported(kAssignmentApplied).message, HasSubstr("kubexmctl resume"));
    ASSERT_TRUE(command(model::Verb::resume));
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
}

TEST_F(PersonsWord, AnUndoByRootInTheMiddleOfAJoinStays) {
    start();
    make_secret();
    executor_.holds_plans = true;
    assign();
    advance(5s);
    ASSERT_THAT(executor_.applied, SizeIs(1));
    agent_.reset();
    executor_.end_plan(model::PlanState::cancelled);
    executor_.undo_as_root("machine-u1");
    executor_.holds_plans = false;
    start();
    advance(5h);
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_THAT(executor_.applied, SizeIs(1));
    assign("u2", "workers-2");
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined) << "new orders";
}

TEST_F(PersonsWord, AnUndoByRootIsRecognisedWithoutAClock) {
    join();
    time_.set_clock(-1h);
    executor_.undo_as_root("machine-u1");
    advance(10s);
    EXPECT_EQ(phase(), Phase::held) << "after the join, by a clock that was set back";
    ASSERT_TRUE(command(model::Verb::resume));
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
    time_.set_clock(-1h);
    restart();
    EXPECT_EQ(phase(), Phase::joined);
    executor_.undo_as_root("machine-u1");
    settle();
    ASSERT_EQ(phase(), Phase::held);
    ASSERT_TRUE(command(model::Verb::resume));
    ASSERT_EQ(phase(), Phase::joined);
    executor_.undo_as_root("machine-u1");
    settle();
    EXPECT_EQ(phase(), Phase::held) << "in the second of resume and join";
}

TEST_F(PersonsWord, AResumeWhileTheExecutorIsAwayIsForTheUndoThatItShowsNext) {
    join();
    executor_.undo_as_root("machine-u1");
    advance(10s);
    executor_.connected = false;
    restart();
    ASSERT_TRUE(command(model::Verb::resume));
    restart();
    regain_executor();
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
    executor_.undo_as_root("machine-u1");
    advance(10s);
    EXPECT_EQ(phase(), Phase::held) << "another undo";
}

TEST_F(PersonsWord, AnUndoByRootIsForgottenWhenTheOrdersChange) {
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

}  // namespace
}  // namespace kubexm::agent
