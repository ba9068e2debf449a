#include "daemon/kube/backoff.hpp"

#include <algorithm>

namespace kubexm::kube {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds kFirst = 800ms;
constexpr milliseconds kLongest = 30s;
constexpr milliseconds kLongestUntilAPersonActs = 5min;  // RBAC, or an API that is not installed
constexpr milliseconds kCredentials = 30s;               // between tries with one that is refused
constexpr int kMostDoublings = 10;                       // beyond every limit above

milliseconds longest(const Failure& failure) {
    return failure.status == 403 || failure.status == 404 ? kLongestUntilAPersonActs : kLongest;
}

milliseconds shortest(const Failure& failure) {
    return failure.status == 401 ? kCredentials : milliseconds(failure.retry_after);
}

}  // namespace

milliseconds Backoff::next(const Failure& failure, double jitter) {
    const milliseconds doubled = kFirst * (1 << std::min(failures_++, kMostDoublings));
    const double limited = static_cast<double>(std::min(doubled, longest(failure)).count());
    return std::max(milliseconds(static_cast<long>(limited * (1 + jitter))), shortest(failure));
}

}  // namespace kubexm::kube
