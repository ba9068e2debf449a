#include "daemon/base/backoff.hpp"

#include <algorithm>

namespace kubexm {

Backoff::Milliseconds Backoff::next(double jitter, Milliseconds longest) {
    constexpr int kMostDoublings = 16;  // beyond every limit
    const Milliseconds doubled = first_ * (1 << std::min(failures_++, kMostDoublings));
    const auto limited = static_cast<double>(std::min(doubled, longest).count());
    return Milliseconds(static_cast<Milliseconds::rep>(limited * (1 + jitter)));
}

}  // namespace kubexm
