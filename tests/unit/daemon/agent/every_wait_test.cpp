#include "daemon/kube/signing.hpp"
#include "harness/harness.hpp"
#include "tests/unit/sanitized.hpp"

// Every activity is failed, cancelled and killed at each of its waits: the host always ends where
// its orders ask for.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using model::Phase;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr const char* kMaxPods = "kind: KubeletConfiguration\nmaxPods: 77\n";

/// The parameter says at which wait: the n-th request, or after n turns of the loop.
class EveryWait : public Harness, public testing::WithParamInterface<int> {
protected:
    /// An assigned host whose join is on its way.
    void begin_join() {
        start();
        make_secret();
        patch_assignment();
        turn(GetParam());
    }
    void begin_release() {
        join();
        patch_release();
        turn(GetParam());
    }
    /// A joined host with changed labels and settings.
    void begin_change() {
        join();
        make_secret(kMaxPods);
        management_.patch(kHost, {{"spec", {{"labels", {{"team", "red"}}}}}});
        turn(GetParam());
    }
    /// A node that becomes that of another machine.
    void begin_adoption_of_node() {
        constexpr int kTurnsOfCommand = 2;
        join();
        assign("u2", "workers-2");
        begin_adoption();
        turn(kTurnsOfCommand + GetParam());
    }
    void begin_repair() {
        join();
        executor_.set_drift({{"machine-u1", "file /etc/kubernetes/kubelet.conf", "absent"}});
        turn(GetParam());
    }
    void kill_executor() {
        lose_executor();
        advance(5s);
        regain_executor();
    }
    void expect_enrolled() {
        advance(30min);
        EXPECT_EQ(phase(), Phase::waiting);
        EXPECT_THAT(management_.all(kube::kSigningPath), SizeIs(1)) << "one key, one request";
    }
    void expect_changed() {
        advance(30min);
        EXPECT_EQ(phase(), Phase::joined);
        ASSERT_THAT(executor_.applied, Not(IsEmpty()));
        EXPECT_THAT(model::to_json(executor_.applied.back()), HasSubstr("77"));
        EXPECT_EQ(workload_.find(kNode)->at("metadata").at("labels").at("team"), "red");
        EXPECT_EQ(reported(kAssignmentApplied).status, model::ConditionStatus::yes);
    }
    void expect_adopted() {
        advance(30min);
        EXPECT_EQ(phase(), Phase::joined);
        EXPECT_TRUE(executor_.has("machine-u2"));
        EXPECT_FALSE(executor_.has("machine-u1"));
        EXPECT_EQ(state().memory.joined.value_or(JoinedMachine{}).owner, "machine-u2");
        EXPECT_EQ(count_requests(workload_, "POST"), 1U) << "the certificate is kept";
    }
    void expect_repaired() {
        advance(30min);
        EXPECT_EQ(phase(), Phase::joined);
        EXPECT_THAT(executor_.repaired, Not(IsEmpty()));
        EXPECT_THAT(state().executor.drift, IsEmpty());
        EXPECT_NE(reported(kHostAsApplied).status, model::ConditionStatus::no);
    }
    void expect_joined() {
        advance(30min);
        EXPECT_EQ(phase(), Phase::joined);
        EXPECT_EQ(reported(kBootstrapped).status, model::ConditionStatus::yes);
        EXPECT_EQ(shown(kNodeReady).status, model::ConditionStatus::yes);
        EXPECT_TRUE(executor_.has("machine-u1"));
    }
    void expect_released() {
        advance(30min);
        EXPECT_EQ(phase(), Phase::waiting);
        EXPECT_FALSE(executor_.has("machine-u1"));
        EXPECT_EQ(reported(kBootstrapped).reason, kNodeAbsent);
        EXPECT_FALSE(management_.find(kHost)->contains("/status/machineRef"_json_pointer));
        EXPECT_FALSE(state().memory.joined);
    }
};

TEST_P(EveryWait, AJoinWithAFailedRequestOfTheManagementCluster) {
    start();
    make_secret();
    management_.fail_in = GetParam();
    assign();
    expect_joined();
}

TEST_P(EveryWait, AJoinWithAFailedRequestOfTheWorkloadCluster) {
    start();
    make_secret();
    workload_.fail_in = GetParam();
    assign();
    expect_joined();
}

TEST_P(EveryWait, AJoinThatIsPausedAndResumed) {
    begin_join();
    ASSERT_TRUE(command(model::Verb::pause));
    advance(1min);
    EXPECT_EQ(phase(), Phase::paused);
    ASSERT_TRUE(command(model::Verb::resume));
    expect_joined();
}

TEST_P(EveryWait, AJoinDuringWhichKubexmdIsKilled) {
    begin_join();
    restart();
    expect_joined();
}

TEST_P(EveryWait, AJoinDuringWhichTheExecutorRestarts) {
    begin_join();
    kill_executor();
    expect_joined();
}

TEST_P(EveryWait, AJoinWhoseOrdersAreWithdrawn) {
    begin_join();
    ask_for_release();
    expect_released();
}

TEST_P(EveryWait, AReleaseWithAFailedRequest) {
    join();
    management_.fail_in = GetParam();
    workload_.fail_in = GetParam();
    ask_for_release();
    expect_released();
}

TEST_P(EveryWait, AReleaseDuringWhichKubexmdIsKilled) {
    begin_release();
    restart();
    expect_released();
}

TEST_P(EveryWait, AReleaseDuringWhichTheManagementClusterIsAway) {
    begin_release();
    management_.set_available(false);
    advance(5min);
    management_.set_available(true);
    expect_released();
}

TEST_P(EveryWait, AnEnrolmentWithAFailedRequest) {
    management_.fail_in = GetParam();
    start();
    advance(30min);
    EXPECT_EQ(phase(), Phase::waiting);
}

TEST_P(EveryWait, AnEnrolmentDuringWhichKubexmdIsKilled) {
    begin();
    turn(GetParam());
    restart();
    expect_enrolled();
}

TEST_P(EveryWait, AChangeWithAFailedRequest) {
    join();
    make_secret(kMaxPods);
    management_.fail_in = GetParam();
    workload_.fail_in = GetParam();
    management_.patch(kHost, {{"spec", {{"labels", {{"team", "red"}}}}}});
    advance(2h);  // the secret is read hourly
    expect_changed();
}

TEST_P(EveryWait, AChangeDuringWhichKubexmdIsKilled) {
    begin_change();
    restart();
    expect_changed();
}

TEST_P(EveryWait, AChangeDuringWhichTheExecutorRestarts) {
    begin_change();
    kill_executor();
    expect_changed();
}

TEST_P(EveryWait, AnAdoptionDuringWhichKubexmdIsKilled) {
    begin_adoption_of_node();
    restart();
    expect_adopted();
}

TEST_P(EveryWait, AnAdoptionDuringWhichTheExecutorRestarts) {
    begin_adoption_of_node();
    kill_executor();
    expect_adopted();
}

TEST_P(EveryWait, AnAdoptionWhoseOrdersAreWithdrawn) {
    begin_adoption_of_node();
    ask_for_release();
    expect_released();
    EXPECT_FALSE(executor_.has("machine-u2"));
    EXPECT_EQ(workload_.find(kNode), nullptr);
}

TEST_P(EveryWait, AnAdoptionWithAFailedRequest) {
    join();
    assign("u2", "workers-2");
    management_.fail_in = GetParam();
    workload_.fail_in = GetParam();
    ASSERT_TRUE(command(model::Verb::adopt));
    expect_adopted();
}

TEST_P(EveryWait, ARepairDuringWhichKubexmdIsKilled) {
    begin_repair();
    restart();
    expect_repaired();
}

TEST_P(EveryWait, ARepairDuringWhichTheExecutorRestarts) {
    begin_repair();
    kill_executor();
    expect_repaired();
}

TEST_P(EveryWait, ARepairThatIsPausedAndResumed) {
    begin_repair();
    ASSERT_TRUE(command(model::Verb::pause));
    advance(1min);
    ASSERT_TRUE(command(model::Verb::resume));
    expect_repaired();
}

std::vector<int> waits() {
    if (kEveryCrash > 1) return {1, 4, 10, 20, 40};
    return {1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50};
}

INSTANTIATE_TEST_SUITE_P(Waits, EveryWait, testing::ValuesIn(waits()));

}  // namespace
}  // namespace kubexm::agent
