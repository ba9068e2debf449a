#include "daemon/base/work_timer.hpp"

#include <gtest/gtest.h>

namespace kubexm {
namespace {

using namespace std::chrono_literals;

TEST(WorkTimer, WithoutWorkIsAlwaysAlive) {
    WorkTimer pulse;
    EXPECT_TRUE(pulse.alive(0s));
    pulse.beat();
    pulse.rest();
    EXPECT_TRUE(pulse.alive(0s));
}

TEST(WorkTimer, WithWorkIsAliveUpToTheLimit) {
    WorkTimer pulse;
    pulse.beat();
    EXPECT_TRUE(pulse.alive(1h));
    EXPECT_FALSE(pulse.alive(0s));
}

}  // namespace
}  // namespace kubexm
