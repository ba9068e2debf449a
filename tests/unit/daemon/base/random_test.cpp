#include "daemon/base/random.hpp"

#include <gtest/gtest.h>

namespace kubexm {
namespace {

TEST(Random, StaysInItsRangeAndDiffers) {
    bool differs = false;
    const double first = system_random();
    for (int i = 0; i < 1000; ++i) {
        const double next = system_random();
        ASSERT_GE(next, 0);
        ASSERT_LT(next, 1);
        differs = differs || next != first;
    }
    EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace kubexm
