#pragma once

#include <chrono>

namespace kubexm::agent {

/// How long to wait before the next try: twice as long every time, up to a limit, and never the
/// same on two hosts.
class Backoff {
public:
    using Milliseconds = std::chrono::milliseconds;
    constexpr Backoff(Milliseconds first, Milliseconds slowest)
        : first_(first), slowest_(slowest), delay_(first) {}

    /// Between the whole of the current delay and one and a half of it.
    Milliseconds next();
    void reset() { delay_ = first_; }

private:
    Milliseconds first_;
    Milliseconds slowest_;
    Milliseconds delay_;
};

}  // namespace kubexm::agent
