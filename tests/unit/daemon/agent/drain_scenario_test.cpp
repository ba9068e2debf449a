#include "harness/harness.hpp"

// The pods of a node end before its kubelet does.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using model::Phase;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Drain : public Harness {
protected:
    std::size_t count(const std::string& text) const { return count_requests(workload_, text); }
    std::string release_message() { return reported(kBootstrapped).message; }
    void expect_released() {
        EXPECT_THAT(executor_.undone, ElementsAre("machine-u1"));
        EXPECT_EQ(phase(), Phase::waiting);
        EXPECT_THAT(state().ending_pods, IsEmpty());
    }
};

TEST_F(Drain, PodsThatOthersCanRunAreEvictedFromACordonedNode) {
    join();
    put_pod("a");
    put_pod("b");
    put_pod("agent", {{"metadata", {{"ownerReferences", json::array({{{"kind", "DaemonSet"}}})}}}});
    put_pod("static", {{"metadata", {{"annotations", {{"kubernetes.io/config.mirror", "x"}}}}}});
    put_pod("finished", {{"status", {{"phase", "Succeeded"}}}});
    ask_for_release();
    advance(5s);
    expect_released();
    EXPECT_EQ(count("POST " + path_of("a") + "/eviction"), 1U);
    EXPECT_EQ(count("POST " + path_of("b") + "/eviction"), 1U);
    EXPECT_EQ(count("/eviction"), 2U);
    EXPECT_EQ(count("DELETE " + path_of("")), 0U);
    EXPECT_THAT(workload_.patches,
                testing::Contains(testing::Pair(kNode, json{{"spec", {{"unschedulable", true}}}})));
    EXPECT_THAT(release_message(), testing::EndsWith("previous state is restored"));
}

TEST_F(Drain, AChangeOfAnotherUnitDoesNotHideKubelet) {
    join();
    put_pod("a");
    executor_.change_units({{"containerd.service", "active", "enabled"}});
    settle();
    EXPECT_THAT(snapshot().units, testing::SizeIs(2));
    executor_.change_units({{"containerd.service", "inactive", "enabled"}});
    settle();
    EXPECT_THAT(snapshot().units, testing::SizeIs(2));
    ask_for_release();
    advance(5s);
    expect_released();
    EXPECT_EQ(count("POST " + path_of("a") + "/eviction"), 1U);
}

TEST_F(Drain, AHostWithoutPodsIsNotCordoned) {
    join();
    ask_for_release();
    advance(5s);
    expect_released();
    EXPECT_THAT(
        workload_.patches,
        Not(testing::Contains(testing::Pair(kNode, json{{"spec", {{"unschedulable", true}}}}))));
}

TEST_F(Drain, ABudgetIsRespectedUntilTheTimeIsOver) {
    join();
    put_pod("a");
    workload_.budgets = {"a"};
    ask_for_release();
    advance(118s);
    EXPECT_THAT(executor_.undone, IsEmpty());
    EXPECT_EQ(phase(), Phase::releasing);
    EXPECT_THAT(reported(kAssignmentApplied).message,
                HasSubstr("waiting for the end of 1 pods: default/a"));
    EXPECT_NE(workload_.find(path_of("a")), nullptr);
    advance(10s);
    expect_released();
    EXPECT_EQ(workload_.find(path_of("a")), nullptr);
    EXPECT_THAT(release_message(),
                HasSubstr("deleted against their disruption budgets: default/a"));
}

TEST_F(Drain, PodsThatDoNotEndDoNotKeepTheHost) {
    join();
    put_pod("a");
    workload_.ends_pods = false;
    ask_for_release();
    advance(140s);
    EXPECT_THAT(executor_.undone, IsEmpty());
    advance(20s);
    expect_released();
    EXPECT_EQ(count("/eviction"), 1U) << "it is ending: no second request";
    EXPECT_THAT(release_message(), HasSubstr("1 pods did not end in time"));
}

TEST_F(Drain, WithoutTheApiServerTheReleaseGoesOnAndSaysSo) {
    join();
    put_pod("a");
    workload_.set_available(false);
    ask_for_release();
    advance(5s);
    expect_released();
    EXPECT_THAT(release_message(), HasSubstr("without their preStop hooks: "));
}

TEST_F(Drain, AnApiServerThatRestartsIsWaitedFor) {
    join();
    put_pod("a");
    workload_.budgets = {"a"};
    ask_for_release();
    advance(5s);
    workload_.set_available(false);
    advance(60s);
    EXPECT_THAT(executor_.undone, IsEmpty());
    workload_.set_available(true);
    workload_.budgets.clear();
    advance(5s);
    expect_released();
    EXPECT_THAT(release_message(), testing::EndsWith("previous state is restored"));
}

/// As with a firewall that drops packets: each request takes 30 s.
TEST_F(Drain, AClusterThatDoesNotAnswerKeepsTheHostNotLongerThanTheCap) {
    join();
    for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}) put_pod(name);
    workload_.budgets = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    ask_for_release();
    advance(5s);
    EXPECT_EQ(state().ending_pods.size(), 10U);
    workload_.silent_path = "/";
    advance(180s);
    expect_released();
    EXPECT_THAT(release_message(), HasSubstr("without their preStop hooks: "));
}

TEST_F(Drain, EvictionsWithoutAnAnswerDoNotKeepTheHostEither) {
    join();
    for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}) put_pod(name);
    workload_.silent_path = "/eviction";
    ask_for_release();
    advance(150s);
    EXPECT_EQ(count("no answer"), 4U) << "one in a round";
    advance(10s);
    expect_released();
    EXPECT_THAT(release_message(), HasSubstr("deleted against their disruption budgets"));
}

TEST_F(Drain, APodWhoseEvictionGetsNoAnswerIsAskedAfterTheOthers) {
    join();
    for (const char* name : {"a", "b", "c"}) put_pod(name);
    workload_.silent_path = path_of("c") + "/eviction";
    ask_for_release();
    advance(40s);
    EXPECT_EQ(workload_.find(path_of("a")), nullptr);
    EXPECT_EQ(workload_.find(path_of("b")), nullptr);
    EXPECT_NE(workload_.find(path_of("c")), nullptr);
}

TEST_F(Drain, WithoutKubeletNothingIsWaitedFor) {
    executor_.kubelet = "failed";
    join();
    put_pod("a");
    ask_for_release();
    advance(5s);
    expect_released();
    EXPECT_EQ(count("/eviction"), 0U);
    EXPECT_THAT(release_message(), HasSubstr("kubelet does not run"));
}

TEST_F(Drain, WhereEvictionIsForbiddenTheReleaseGoesOnAndSaysSo) {
    join();
    put_pod("a");
    workload_.refuse_status = 403;
    workload_.refuse_path = "/eviction";
    ask_for_release();
    advance(5s);
    expect_released();
    EXPECT_THAT(release_message(), HasSubstr("without their preStop hooks: "));
}

TEST_F(Drain, TheNodeOfAnotherMachineIsLeftAlone) {
    join();
    put_pod("a");
    workload_.patch(kNode, {{"status", {{"nodeInfo", {{"machineID", "another"}}}}}});
    ask_for_release();
    advance(5s);
    expect_released();
    EXPECT_EQ(count("/eviction"), 0U);
}

TEST_F(Drain, AListThatNeverEndsIsNotReadForEver) {
    join();
    workload_.ends_lists = false;
    ask_for_release();
    advance(5s);
    expect_released();
    EXPECT_LE(count("GET /api/v1/pods"), 100U);
}

TEST_F(Drain, OrdersThatChangeEndTheWait) {
    join();
    put_pod("a");
    workload_.budgets = {"a"};
    ask_for_release();
    advance(5s);
    EXPECT_THAT(state().ending_pods, ElementsAre("default/a"));
    std::ignore = command(model::Verb::pause, 1h);
    advance(5s);
    const auto asked = count("/eviction");
    advance(60s);
    EXPECT_EQ(count("/eviction"), asked);
    EXPECT_THAT(state().ending_pods, IsEmpty());
}

/// A release that waits for a pod with a budget.
class CancelledRelease : public Drain {
protected:
    void join_with_pod() {
        join();
        put_pod("a");
        workload_.budgets = {"a"};
    }
    void begin_release() {
        join_with_pod();
        ask_for_release();
        ASSERT_TRUE(is_cordoned());
    }
    bool is_cordoned() {
        return workload_.find(kNode)->value("/spec/unschedulable"_json_pointer, false);
    }
    void expect_a_node_for_pods() {
        EXPECT_EQ(phase(), Phase::joined);
        EXPECT_THAT(executor_.undone, IsEmpty());
        EXPECT_FALSE(is_cordoned());
        EXPECT_EQ(state().memory.cordoned, std::nullopt);
    }
};

TEST_F(CancelledRelease, AWithdrawnOrderLeavesANodeThatTakesPods) {
    begin_release();
    withdraw_release();
    expect_a_node_for_pods();
    const auto patches = workload_.patches.size();
    advance(1h);
    EXPECT_EQ(workload_.patches.size(), patches);
}

TEST_F(CancelledRelease, ALeaveThatWasTakenBackLeavesANodeThatTakesPods) {
    join_with_pod();
    ASSERT_TRUE(command(model::Verb::leave));
    ASSERT_TRUE(is_cordoned());
    ASSERT_TRUE(command(model::Verb::resume));
    expect_a_node_for_pods();
}

TEST_F(CancelledRelease, AKilledProcessKnowsItsCordon) {
    begin_release();
    agent_.reset();
    withdraw_release();
    start();
    expect_a_node_for_pods();
}

TEST_F(CancelledRelease, TheCordonStaysDuringAPause) {
    begin_release();
    ASSERT_TRUE(command(model::Verb::pause));
    withdraw_release();
    advance(1h);
    EXPECT_TRUE(is_cordoned());
    ASSERT_TRUE(command(model::Verb::resume));
    expect_a_node_for_pods();
}

TEST_F(CancelledRelease, ACordonThatCannotBeTakenBackIsTriedAgain) {
    begin_release();
    workload_.set_available(false);
    withdraw_release();
    advance(1min);
    EXPECT_TRUE(is_cordoned());
    workload_.set_available(true);
    advance(10min);
    expect_a_node_for_pods();
}

TEST_F(CancelledRelease, ACordonOfSomebodyElseStays) {
    join_with_pod();
    workload_.patch(kNode, {{"spec", {{"unschedulable", true}}}});
    ask_for_release();
    EXPECT_THAT(state().ending_pods, ElementsAre("default/a"));
    withdraw_release();
    advance(1h);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_TRUE(is_cordoned());
}

TEST_F(CancelledRelease, ANodeThatWasRegisteredSinceHasNoCordonOfOurs) {
    begin_release();
    agent_.reset();
    withdraw_release();
    workload_.erase(kNode);
    set_node("True");
    workload_.patch(kNode, {{"spec", {{"unschedulable", true}}}});
    start();
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_TRUE(is_cordoned()) << "somebody else's";
    EXPECT_EQ(state().memory.cordoned, std::nullopt);
}

}  // namespace
}  // namespace kubexm::agent
