#include "daemon/hands/executor/strikes.hpp"

#include <gtest/gtest.h>

#include "executor_host.hpp"

namespace kubexm::hands {
namespace {

constexpr std::int64_t kHour = 3600;
constexpr std::int64_t kNow = 1'000'000;

TEST(Strikes, WaitAnHourAfterTheThird) {
    EXPECT_EQ(seconds_to_wait({2, kNow}, kNow), 0);
    EXPECT_EQ(seconds_to_wait({3, kNow}, kNow), kHour);
    EXPECT_EQ(seconds_to_wait({3, kNow}, kNow + kHour - 1), 1);
    EXPECT_EQ(seconds_to_wait({3, kNow}, kNow + kHour), 0);
}

TEST(Strikes, DoNotLockWhenTheClockWasSetBack) {
    EXPECT_EQ(seconds_to_wait({3, kNow + 1}, kNow), 0);
    EXPECT_EQ(seconds_to_wait({3, kNow + 1000 * kHour}, kNow), 0);
}

TEST(Strikes, AreNotWhatPassesByItself) {
    EXPECT_FALSE(is_strike({Code::exhausted, "disk full"}));
    EXPECT_FALSE(is_strike({Code::unavailable, "I/O error"}));
    EXPECT_TRUE(is_strike({Code::not_found, "no such unit"}));
}

class GivenUp : public ExecutorHost {
protected:
    /// A link in a directory that is not there.
    Result<PlanState> failing() {
        return applied(link_plan(std::to_string(++number_), "/etc/missing/link"));
    }
    Result<PlanState> undone() {
        const std::string id = std::to_string(++number_);
        auto record = executor.accept_undo(id, "owner", kFrontCaller);
        if (!record) return std::unexpected(record.error());
        return carried_out(*record);
    }
    int number_ = 0;
};

TEST_F(GivenUp, AreAPlanAndNotItsUndoAfterThreeFailures) {
    for (int i = 0; i < 3; ++i) EXPECT_THAT(failing(), IsState(PlanState::failed));
    EXPECT_THAT(failing(), IsError(Code::conflict, "failed 3 times the same way"));
    EXPECT_THAT(undone(), IsState(PlanState::undone));
}

TEST_F(GivenUp, IsNoUndo) {
    put(scratch_.at("/etc/link"), "theirs");
    ASSERT_THAT(applied(link_plan("p")), IsState(PlanState::done));
    std::filesystem::remove_all(state() + "/content");  // so that nothing can be given back
    for (int i = 0; i < 5; ++i) EXPECT_THAT(undone(), IsState(PlanState::failed));
}

}  // namespace
}  // namespace kubexm::hands
