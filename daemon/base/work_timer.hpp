#pragma once

#include <atomic>
#include <chrono>

namespace kubexm {

/// Tells other threads, a watchdog's above all, whether one that is at work gets on with it.
class WorkTimer {
public:
    using Clock = std::chrono::steady_clock;

    /// A piece of work begins.
    void beat() { since_ = Clock::now().time_since_epoch().count(); }
    /// There is none: however long that takes, nothing is wrong.
    void rest() { since_ = 0; }

    /// False: one piece of work takes longer than any may.
    bool alive(Clock::duration longest) const {
        const Clock::duration since(since_.load());
        return since.count() == 0 || Clock::now().time_since_epoch() - since < longest;
    }

private:
    std::atomic<Clock::rep> since_ = 0;
};

}  // namespace kubexm
