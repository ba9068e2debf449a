#include "daemon/base/backoff.hpp"

#include <gtest/gtest.h>

namespace kubexm {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, DoublesUpToItsLimitAndRestartsAfterReset) {
    Backoff backoff(1s, 5s);
    for (const auto expected : {1s, 2s, 4s, 5s, 5s}) EXPECT_EQ(backoff.next(0), expected);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(backoff.next(0), 5s);
    backoff.reset();
    EXPECT_EQ(backoff.next(0), 1s);
}

TEST(Backoff, IsUpToTwiceAsLongByJitter) {
    Backoff backoff(1s, 5s);
    EXPECT_EQ(backoff.next(0.5), 1500ms);
    EXPECT_EQ(backoff.next(0.999), 3998ms);
}

TEST(Backoff, TakesAnotherLimitForOneWait) {
    Backoff backoff(1s, 2s);
    for (int i = 0; i < 10; ++i) backoff.next(0);
    EXPECT_EQ(backoff.next(0, 1min), 1min);
    EXPECT_EQ(backoff.next(0), 2s);
}

}  // namespace
}  // namespace kubexm
