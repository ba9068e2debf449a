#include "daemon/kube/request_backoff.hpp"

#include <algorithm>

namespace kubexm::kube {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds kLongestForOperator = 5min;  // RBAC, or an API that is not installed
constexpr milliseconds kShortestUnauthorized = 30s;

bool needs_operator(const Failure& failure) {
    return failure.status == HttpStatus::forbidden || failure.status == HttpStatus::not_found;
}

milliseconds shortest(const Failure& failure) {
    return failure.status == HttpStatus::unauthorized ? kShortestUnauthorized
                                                      : milliseconds(failure.retry_after);
}

}  // namespace

milliseconds RequestBackoff::next(const Failure& failure, double jitter) {
    const milliseconds longest =
        needs_operator(failure) ? std::max(longest_, kLongestForOperator) : longest_;
    return std::max(backoff_.next(jitter, longest), shortest(failure));
}

}  // namespace kubexm::kube
