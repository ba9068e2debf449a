#include "daemon/kube/request_backoff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace kubexm::kube {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using testing::ElementsAre;

std::vector<milliseconds> waits(const Failure& failure, std::size_t count) {
    RequestBackoff backoff;
    std::vector<milliseconds> all;
    while (all.size() < count) all.push_back(backoff.next(failure, /*jitter=*/0));
    return all;
}

TEST(RequestBackoff, DoublesToHalfAMinute) {
    EXPECT_THAT(waits({.status = 503}, 8),
                ElementsAre(800ms, 1600ms, 3200ms, 6400ms, 12800ms, 25600ms, 30s, 30s));
}

TEST(RequestBackoff, IsLongerForForbiddenAndNotFound) {
    EXPECT_EQ(waits({.status = 403}, 10).front(), 800ms);
    EXPECT_EQ(waits({.status = 403}, 10).back(), 5min);
    EXPECT_EQ(waits({.status = 404}, 100).back(), 5min);
}

TEST(RequestBackoff, IsAtLeast30sForUnauthorized) {
    EXPECT_THAT(waits({.status = 401}, 2), ElementsAre(30s, 30s));
}

TEST(RequestBackoff, IsAtLeastRetryAfter) {
    EXPECT_THAT(waits({.status = 429, .retry_after = 2s}, 3), ElementsAre(2s, 2s, 3200ms));
}

}  // namespace
}  // namespace kubexm::kube
