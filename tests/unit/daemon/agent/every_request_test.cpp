#include "every_wait.hpp"

// Each request of an activity fails once: the host ends where its orders ask for.

namespace kubexm::agent {
namespace {

constexpr int kLastRequest = 20;

/// The n-th request of each cluster fails.
class EveryRequest : public EveryWait {
protected:
    bool is_last_wait() const override { return GetParam() == kLastRequest; }
    bool has_ended_before() const override {
        return management_.fail_in > 0 && workload_.fail_in > 0;
    }
    void fail_request() { management_.fail_in = workload_.fail_in = GetParam(); }
};

TEST_P(EveryRequest, FailsDuringAnEnrolment) {
    fail_request();
    start();
    expect_enrolled();
}

TEST_P(EveryRequest, FailsDuringAJoin) {
    start();
    make_secret();
    fail_request();
    assign();
    expect_joined();
}

TEST_P(EveryRequest, FailsDuringAChange) {
    join();
    fail_request();
    change_orders();
    expect_changed();
}

TEST_P(EveryRequest, FailsDuringARenewal) {
    join_with_certificates();
    fail_request();
    ASSERT_TRUE(command(model::Verb::renew));
    expect_renewed();
}

TEST_P(EveryRequest, FailsDuringAnAdoption) {
    join();
    assign("u2", "workers-2");
    fail_request();
    ASSERT_TRUE(command(model::Verb::adopt));
    expect_adopted();
}

TEST_P(EveryRequest, FailsDuringARelease) {
    join();
    fail_request();
    ask_for_release();
    expect_released();
}

constexpr int kLastOrder = 16;

/// The executor refuses the n-th request.
class EveryRefusal : public EveryWait {
protected:
    bool is_last_wait() const override { return GetParam() == kLastOrder; }
    bool has_ended_before() const override { return executor_.fail_in > 0; }
    /// It is tried again, and nobody is told of a failure.
    void TearDown() override {
        for (const auto& [path, patch] : management_.patches) {
            for (const json& each : patch.value("/status/conditions"_json_pointer, json())) {
                EXPECT_NE(each.value("severity", ""), "Error") << each;
            }
        }
        for (const char* failure :
             {"AssignmentFailed", "BootstrapK8sNodeFailed", "ResetK8sNodeFailed"}) {
            EXPECT_THAT(events(failure), testing::IsEmpty()) << failure;
        }
    }
    void refuse_request() { executor_.fail_in = GetParam(); }
    void begin_repair() {
        executor_.set_drift({{"machine-u1", "file /etc/kubernetes/kubelet.conf", "absent"}});
    }
};

TEST_P(EveryRefusal, OfTheFirstRequestsOfAProcess) {
    join();
    refuse_request();
    restart();
    begin_repair();
    expect_repaired();
}

TEST_P(EveryRefusal, DuringAJoin) {
    start();
    make_secret();
    refuse_request();
    assign();
    expect_joined();
}

TEST_P(EveryRefusal, DuringAPauseOfAJoin) {
    start();
    make_secret();
    executor_.holds_plans = true;
    assign();
    refuse_request();
    ASSERT_TRUE(command(model::Verb::pause));
    advance(std::chrono::minutes(10));
    EXPECT_THAT(executor_.cancelled, testing::SizeIs(1));
    executor_.holds_plans = false;
    ASSERT_TRUE(command(model::Verb::resume));
    expect_joined();
}

TEST_P(EveryRefusal, DuringAChange) {
    join();
    refuse_request();
    change_orders();
    expect_changed();
}

TEST_P(EveryRefusal, DuringARenewal) {
    join_with_certificates();
    refuse_request();
    ASSERT_TRUE(command(model::Verb::renew));
    expect_renewed();
}

TEST_P(EveryRefusal, DuringAnAdoption) {
    join();
    assign("u2", "workers-2");
    refuse_request();
    ASSERT_TRUE(command(model::Verb::adopt));
    expect_adopted();
}

TEST_P(EveryRefusal, DuringARepair) {
    join();
    refuse_request();
    begin_repair();
    expect_repaired();
}

TEST_P(EveryRefusal, DuringARelease) {
    join();
    refuse_request();
    ask_for_release();
    expect_released();
}

INSTANTIATE_TEST_SUITE_P(Waits, EveryRequest, testing::Range(1, kLastRequest + 1, kEveryWait));
INSTANTIATE_TEST_SUITE_P(Orders, EveryRefusal, testing::Range(1, kLastOrder + 1, kEveryWait));

}  // namespace
}  // namespace kubexm::agent
