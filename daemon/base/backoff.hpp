#pragma once

#include <chrono>

namespace kubexm {

/// The wait before the next retry: doubled each time up to a limit. The jitter, 0 to below 1, adds
/// up to as much again, so that the hosts of a fleet do not retry together.
class Backoff {
public:
    using Milliseconds = std::chrono::milliseconds;
    constexpr Backoff(Milliseconds first, Milliseconds longest)
        : first_(first), longest_(longest) {}

    Milliseconds next(double jitter) { return next(jitter, longest_); }
    /// With another limit for this wait only.
    Milliseconds next(double jitter, Milliseconds longest);
    void reset() { failures_ = 0; }

private:
    Milliseconds first_;
    Milliseconds longest_;
    int failures_ = 0;  // in a row
};

}  // namespace kubexm
