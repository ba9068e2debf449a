#include "daemon/base/work_timer.hpp"

#include <gtest/gtest.h>

namespace kubexm {
namespace {

using namespace std::chrono_literals;

TEST(WorkTimer, WithoutWorkIsNeverStuck) {
    WorkTimer timer;
    EXPECT_FALSE(timer.is_stuck(0s));
    timer.begin();
    timer.end();
    EXPECT_FALSE(timer.is_stuck(0s));
}

TEST(WorkTimer, WithWorkIsStuckAfterTheLimit) {
    WorkTimer timer;
    timer.begin();
    EXPECT_FALSE(timer.is_stuck(1h));
    EXPECT_TRUE(timer.is_stuck(0s));
}

}  // namespace
}  // namespace kubexm
