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
    static std::string path_of(const std::string& pod) {
        return "/api/v1/namespaces/default/pods/" + pod;
    }
    void put_pod(const std::string& name, const json& more = json::object()) {
        json pod{{"metadata", {{"namespace", "default"}, {"name", name}}},
                 {"status", {{"phase", "Running"}}}};
        pod.merge_patch(more);
        workload_.put(path_of(name), pod);
    }
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
    EXPECT_THAT(release_message(), testing::EndsWith("as it was"));
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
    EXPECT_THAT(release_message(), testing::EndsWith("as it was"));
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

}  // namespace
}  // namespace kubexm::agent
