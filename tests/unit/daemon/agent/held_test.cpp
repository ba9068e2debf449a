#include <filesystem>

#include "harness/harness.hpp"

// Orders that contradict the node on this host.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using model::Phase;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class HeldOrders : public Harness {};

TEST_F(HeldOrders, AStaleReleaseOrderOfARestoredClusterIsHeld) {
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

TEST_F(HeldOrders, AReleaseOfAByoHostThatWasDeletedAndRegisteredAgainIsFollowed) {
    join();
    management_.erase(kHost);
    advance(1min);
    EXPECT_EQ(phase(), Phase::held) << "the new ByoHost names no machine";
    ask_for_release();
    advance(10s);
    EXPECT_THAT(executor_.undone, ElementsAre("machine-u1"));
}

/// Its uid is the server's answer, which the process that asked for it has not read.
TEST_F(HeldOrders, AByoHostThatAKilledProcessHasRegisteredAgainIsItsOwn) {
    join();
    management_.on_change = [&, is_done = false](const std::string& path) mutable {
        const bool is_created = path == kHost && management_.find(kHost) != nullptr;
        if (!is_created || std::exchange(is_done, true)) return;
        loop_.post([this] { agent_.reset(); });
    };
    management_.erase(kHost);
    advance(1min);
    ASSERT_FALSE(agent_);
    start();
    advance(1min);
    EXPECT_EQ(phase(), Phase::held) << "the new ByoHost names no machine";
    ask_for_release();
    advance(10s);
    EXPECT_THAT(executor_.undone, ElementsAre("machine-u1"));
}

TEST_F(HeldOrders, AnOldVersionIsTheTruthAfterAWhile) {
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

TEST_F(HeldOrders, AnOldReleaseOrderForTheSameMachineIsHeld) {
    join();
    auto restored = *management_.find(kHost);
    restored["metadata"]["annotations"]["byoh.infrastructure.cluster.x-k8s.io/unregistering"] = "";
    management_.restore(kHost, restored, 60);
    advance(1min);
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_THAT(reported(kAssignmentApplied).message, HasSubstr("restored from a backup"));
    EXPECT_THAT(executor_.undone, IsEmpty());
}

TEST_F(HeldOrders, AStaleReleaseOrderStaysHeldWhenTheByoHostIsWrittenSince) {
    join();
    auto restored = *management_.find(kHost);
    restored["metadata"]["annotations"]["byoh.infrastructure.cluster.x-k8s.io/unregistering"] = "";
    restored["status"]["machineRef"] = nullptr;
    management_.restore(kHost, restored, 60);
    advance(1min);
    ASSERT_EQ(phase(), Phase::held);
    for (int i = 0; i < 100; ++i) {
        management_.patch(kHost,
                          {{"metadata", {{"annotations", {{"touched", std::to_string(i)}}}}}});
    }
    advance(1min);
    restart();
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_THAT(executor_.undone, IsEmpty());
    management_.patch(
        kHost,
        {{"metadata",
          {{"annotations", {{"byoh.infrastructure.cluster.x-k8s.io/unregistering", nullptr}}}}}});
    advance(10s);
    ask_for_release();
    advance(10s);
    EXPECT_THAT(executor_.undone, ElementsAre("machine-u1")) << "a new order";
}

TEST_F(HeldOrders, ALostMemoryHoldsTheOrdersUntilResume) {
    join();
    agent_.reset();
    directory_.write("memory.json", "{");
    start();
    ask_for_release();
    advance(1h);
    restart();
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_EQ(reported(kAssignmentApplied).reason, "MemoryLost");
    EXPECT_THAT(executor_.undone, IsEmpty());
    ASSERT_TRUE(command(model::Verb::resume));
    advance(10s);
    EXPECT_THAT(executor_.undone, ElementsAre("machine-u1"));
}

TEST_F(HeldOrders, ALeaveInTheMiddleOfAnAdoptionReleasesBoth) {
    join();
    assign("u2", "workers-2");
    executor_.holds_plans = true;
    begin_adoption();
    settle();
    executor_.end_plan(model::PlanState::done);
    settle();
    ASSERT_THAT(executor_.undone, ElementsAre("machine-u1"));
    ASSERT_TRUE(command(model::Verb::leave));
    executor_.holds_plans = false;
    executor_.end_plan(model::PlanState::cancelled);
    advance(1min);
    EXPECT_FALSE(executor_.has("machine-u1"));
    EXPECT_FALSE(executor_.has("machine-u2"));
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_THAT(executor_.applied, SizeIs(2));
}

TEST_F(HeldOrders, AMovedManagementClusterAdoptsTheNode) {
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

TEST_F(HeldOrders, AnotherMachineIsHeldUntilAPersonAdopts) {
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

TEST_F(HeldOrders, AnAdoptionThatIsKilledBeforeItsPlanRemovesOldLabels) {
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

TEST_F(HeldOrders, AnAdoptionThatIsKilledDuringItsUndoKeepsTheCertificate) {
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

}  // namespace
}  // namespace kubexm::agent
