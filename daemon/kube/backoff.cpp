#include "daemon/kube/backoff.hpp"

#include <algorithm>

namespace kubexm::kube {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds kLongest = 30s;
constexpr milliseconds kLongestForOperator = 5min;  // RBAC, or an API that is not installed
constexpr milliseconds kShortestUnauthorized = 30s;

milliseconds longest(const Failure& failure) {
    const bool needs_operator =
        failure.status == HttpStatus::forbidden || failure.status == HttpStatus::not_found;
    return needs_operator ? kLongestForOperator : kLongest;
}

milliseconds shortest(const Failure& failure) {
    return failure.status == HttpStatus::unauthorized ? kShortestUnauthorized
                                                      : milliseconds(failure.retry_after);
}

}  // namespace

milliseconds RequestBackoff::next(const Failure& failure, double jitter) {
    return std::max(backoff_.next(jitter, longest(failure)), shortest(failure));
}

}  // namespace kubexm::kube
