#include "daemon/executor/engine/retry_limit.hpp"

#include <gtest/gtest.h>

#include "engine_host.hpp"

namespace kubexm::executor {
namespace {

constexpr std::int64_t kHour = 3600;
constexpr std::int64_t kNow = 1'000'000;

TEST(RetryLimit, IsAnHourAfterTheThirdFailure) {
    EXPECT_EQ(seconds_to_wait({2, kNow}, kNow), 0);
    EXPECT_EQ(seconds_to_wait({3, kNow}, kNow), kHour);
    EXPECT_EQ(seconds_to_wait({3, kNow}, kNow + kHour - 1), 1);
    EXPECT_EQ(seconds_to_wait({3, kNow}, kNow + kHour), 0);
}

TEST(RetryLimit, EndsWhenTheClockWasSetBack) {
    EXPECT_EQ(seconds_to_wait({3, kNow + 1}, kNow), 0);
    EXPECT_EQ(seconds_to_wait({3, kNow + 1000 * kHour}, kNow), 0);
}

TEST(RetryLimit, IgnoresFailuresThatMayPass) {
    EXPECT_FALSE(counts_as_failure({Code::exhausted, "disk full"}));
    EXPECT_FALSE(counts_as_failure({Code::unavailable, "I/O error"}));
    EXPECT_TRUE(counts_as_failure({Code::not_found, "no such unit"}));
}

class RetryLimitOfEngine : public EngineHost {
protected:
    /// A link in a directory that does not exist.
    Result<PlanState> failing() {
        return applied(link_plan(std::to_string(++number_), "/etc/missing/link"));
    }
    Result<PlanState> undone() {
        const std::string id = std::to_string(++number_);
        auto record = engine.accept_undo(id, "machine-1", kAgentCaller);
        if (!record) return std::unexpected(record.error());
        return carried_out(*record);
    }
    int number_ = 0;
};

TEST_F(RetryLimitOfEngine, StopsAPlanAfterThreeFailures) {
    for (int i = 0; i < 3; ++i) EXPECT_THAT(failing(), IsState(PlanState::failed));
    EXPECT_THAT(failing(), IsError(Code::conflict, "failed 3 times with the same error"));
    EXPECT_THAT(undone(), IsState(PlanState::undone));
}

TEST_F(RetryLimitOfEngine, DoesNotStopAnUndo) {
    put(scratch_.at("/etc/link"), "theirs");
    ASSERT_THAT(applied(link_plan("p")), IsState(PlanState::done));
    std::filesystem::remove_all(state() + "/content");  // so that undo fails
    for (int i = 0; i < 5; ++i) EXPECT_THAT(undone(), IsState(PlanState::failed));
}

}  // namespace
}  // namespace kubexm::executor
