#include "daemon/kube/backoff.hpp"

#include <algorithm>

namespace kubexm::kube {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds kLongest = 30s;
constexpr milliseconds kLongestUntilAPersonActs = 5min;  // RBAC, or an API that is not installed
constexpr milliseconds kCredentials = 30s;               // between tries with one that is refused

milliseconds longest(const Failure& failure) {
    return failure.status == 403 || failure.status == 404 ? kLongestUntilAPersonActs : kLongest;
}

milliseconds shortest(const Failure& failure) {
    return failure.status == 401 ? kCredentials : milliseconds(failure.retry_after);
}

}  // namespace

milliseconds RequestBackoff::next(const Failure& failure, double jitter) {
    return std::max(backoff_.next(jitter, longest(failure)), shortest(failure));
}

}  // namespace kubexm::kube
