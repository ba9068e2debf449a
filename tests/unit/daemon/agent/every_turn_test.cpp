#include "every_wait.hpp"

// Every activity is cancelled and killed at each of its waits: the host always ends where its
// orders ask for.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;

constexpr int kLastTurn = 60;

/// After n turns of the loop something else happens.
class EveryTurn : public EveryWait {
protected:
    bool is_last_wait() const override { return GetParam() == kLastTurn; }
    bool has_ended_before() const override { return is_idle_; }

    /// An assigned host whose join is on its way.
    void begin_join() {
        start();
        make_secret();
        patch_assignment();
        wait();
    }
    void begin_release() {
        join();
        patch_release();
        wait();
    }
    /// A joined host with changed labels and settings.
    void begin_change() {
        join();
        change_orders();
        wait();
    }
    void begin_renewal() {
        join_with_certificates();
        begin(model::Verb::renew);
        wait_after_command();
    }
    /// A node that becomes that of another machine.
    void begin_adoption_of_node() {
        join();
        assign("u2", "workers-2");
        begin(model::Verb::adopt);
        wait_after_command();
    }
    void begin_repair() {
        join();
        executor_.set_drift({{"machine-u1", "file /etc/kubernetes/kubelet.conf", "absent"}});
        wait();
    }
    /// Its pods are evicted from a cordoned Node.
    void begin_release_with_pods() {
        join();
        for (const char* pod : {"a", "b", "c"}) put_pod(pod);
        patch_release();
        wait();
    }
    bool is_cordoned() {
        return workload_.find(kNode)->value("/spec/unschedulable"_json_pointer, false);
    }
    void replace_bootstrap(const std::string& kubeconfig) {
        directory_.write("bootstrap", kubeconfig);
        executor_.pass_bootstrap(kubeconfig);
    }
    void wait() { is_idle_ = !turn(GetParam()); }
    void kill_executor() {
        lose_executor();
        advance(5s);
        regain_executor();
    }

private:
    void wait_after_command() {
        constexpr int kTurnsOfCommand = 2;
        turn(kTurnsOfCommand);
        wait();
    }

    bool is_idle_ = false;
};

TEST_P(EveryTurn, OfAnEnrolmentKubexmdIsKilled) {
    begin();
    wait();
    restart();
    expect_enrolled();
}

TEST_P(EveryTurn, OfAnEnrolmentRootReplacesTheBootstrapKubeconfig) {
    begin();
    wait();
    replace_bootstrap(other_.kubeconfig("abc.def"));
    expect_enrolled_in(other_);
}

TEST_P(EveryTurn, OfAJoinItIsPausedAndResumed) {
    begin_join();
    ASSERT_TRUE(command(model::Verb::pause));
    advance(1min);
    EXPECT_EQ(phase(), model::Phase::paused);
    ASSERT_TRUE(command(model::Verb::resume));
    expect_joined();
}

TEST_P(EveryTurn, OfAJoinKubexmdIsKilled) {
    begin_join();
    restart();
    expect_joined();
}

TEST_P(EveryTurn, OfAJoinTheExecutorRestarts) {
    begin_join();
    kill_executor();
    expect_joined();
}

/// Before kubexmd has heard of the machine there is nothing to leave.
TEST_P(EveryTurn, OfAJoinAPersonLeaves) {
    begin_join();
    auto left = command(model::Verb::leave);
    if (!left && left.error().code == Code::unavailable) left = command(model::Verb::leave);
    if (left) return expect_left();
    EXPECT_EQ(left.error().code, Code::not_found);
    expect_joined();
}

TEST_P(EveryTurn, OfAJoinItsOrdersAreWithdrawn) {
    begin_join();
    ask_for_release();
    expect_released();
}

TEST_P(EveryTurn, OfAChangeKubexmdIsKilled) {
    begin_change();
    restart();
    expect_changed();
}

TEST_P(EveryTurn, OfAChangeTheExecutorRestarts) {
    begin_change();
    kill_executor();
    expect_changed();
}

TEST_P(EveryTurn, OfAChangeItIsPausedAndResumed) {
    begin_change();
    ASSERT_TRUE(command(model::Verb::pause));
    advance(1min);
    ASSERT_TRUE(command(model::Verb::resume));
    expect_changed();
}

TEST_P(EveryTurn, OfAChangeTheNodesOrdersAreWithdrawn) {
    begin_change();
    ask_for_release();
    expect_released();
}

/// A person sees that the order is lost, and gives it again.
TEST_P(EveryTurn, OfARenewalKubexmdIsKilled) {
    begin_renewal();
    restart();
    ASSERT_TRUE(command(model::Verb::renew));
    expect_renewed();
}

TEST_P(EveryTurn, OfARenewalTheExecutorRestarts) {
    begin_renewal();
    kill_executor();
    expect_renewed();
}

TEST_P(EveryTurn, OfARenewalTheOrdersAreWithdrawn) {
    begin_renewal();
    ask_for_release();
    expect_released();
}

TEST_P(EveryTurn, OfAnAdoptionKubexmdIsKilled) {
    begin_adoption_of_node();
    restart();
    expect_adopted();
}

TEST_P(EveryTurn, OfAnAdoptionTheExecutorRestarts) {
    begin_adoption_of_node();
    kill_executor();
    expect_adopted();
}

TEST_P(EveryTurn, OfAnAdoptionItIsPausedAndResumed) {
    begin_adoption_of_node();
    ASSERT_TRUE(command(model::Verb::pause));
    advance(1min);
    ASSERT_TRUE(command(model::Verb::resume));
    expect_adopted();
}

TEST_P(EveryTurn, OfAnAdoptionItsOrdersAreWithdrawn) {
    begin_adoption_of_node();
    ask_for_release();
    expect_released();
    EXPECT_FALSE(executor_.has("machine-u2"));
}

TEST_P(EveryTurn, OfARepairKubexmdIsKilled) {
    begin_repair();
    restart();
    expect_repaired();
}

TEST_P(EveryTurn, OfARepairTheExecutorRestarts) {
    begin_repair();
    kill_executor();
    expect_repaired();
}

TEST_P(EveryTurn, OfARepairItIsPausedAndResumed) {
    begin_repair();
    ASSERT_TRUE(command(model::Verb::pause));
    advance(1min);
    ASSERT_TRUE(command(model::Verb::resume));
    expect_repaired();
}

TEST_P(EveryTurn, OfARepairTheOrdersAreWithdrawn) {
    begin_repair();
    ask_for_release();
    expect_released();
}

TEST_P(EveryTurn, OfAReleaseKubexmdIsKilled) {
    begin_release();
    restart();
    expect_released();
}

TEST_P(EveryTurn, OfAReleaseTheExecutorRestarts) {
    begin_release();
    kill_executor();
    expect_released();
}

TEST_P(EveryTurn, OfAReleaseTheManagementClusterIsAway) {
    begin_release();
    management_.set_available(false);
    advance(5min);
    management_.set_available(true);
    expect_released();
}

/// A ByoHost that was freed before names no machine any more.
TEST_P(EveryTurn, OfAReleaseItsOrderIsWithdrawn) {
    begin_release();
    withdraw_release();
    names_machine() ? expect_joined() : expect_freed();
}

TEST_P(EveryTurn, OfAReleaseWithPodsKubexmdIsKilled) {
    begin_release_with_pods();
    restart();
    expect_released();
}

TEST_P(EveryTurn, OfAReleaseWithPodsTheExecutorRestarts) {
    begin_release_with_pods();
    kill_executor();
    expect_released();
}

TEST_P(EveryTurn, OfAReleaseWithPodsItsOrderIsWithdrawn) {
    begin_release_with_pods();
    withdraw_release();
    if (!names_machine()) return expect_freed();
    expect_joined();
    EXPECT_FALSE(is_cordoned());
}

INSTANTIATE_TEST_SUITE_P(Waits, EveryTurn, testing::Range(1, kLastTurn + 1, kEveryWait));

}  // namespace
}  // namespace kubexm::agent
