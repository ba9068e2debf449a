#pragma once

#include <chrono>

namespace kubexm {

/// A number from 0 to below 1 that differs between hosts. Any thread.
double random_jitter();

/// How long to wait before the next try: twice as long every time, up to a limit. The jitter, 0 to
/// below 1, makes it up to twice as long again, so that a fleet does not come back together.
class Backoff {
public:
    using Milliseconds = std::chrono::milliseconds;
    constexpr Backoff(Milliseconds first, Milliseconds longest)
        : first_(first), longest_(longest) {}

    Milliseconds next(double jitter = random_jitter()) { return next(jitter, longest_); }
    /// With another limit for this wait.
    Milliseconds next(double jitter, Milliseconds longest);
    void reset() { failures_ = 0; }

private:
    Milliseconds first_;
    Milliseconds longest_;
    int failures_ = 0;  // in a row
};

}  // namespace kubexm
