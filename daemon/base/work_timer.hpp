#pragma once

#include <atomic>
#include <chrono>

namespace kubexm {

/// Shows other threads, such as the watchdog's, whether a worker thread is stuck.
class WorkTimer {
public:
    using Clock = std::chrono::steady_clock;

    /// Work begins.
    void begin() { since_ = Clock::now().time_since_epoch().count(); }
    /// Work has ended.
    void end() { since_ = 0; }

    /// The current work takes longer than `longest`.
    bool is_stuck(Clock::duration longest) const {
        const Clock::duration since(since_.load());
        return since.count() != 0 && Clock::now().time_since_epoch() - since >= longest;
    }

private:
    std::atomic<Clock::rep> since_ = 0;
};

}  // namespace kubexm
