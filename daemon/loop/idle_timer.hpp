#pragma once

#include <chrono>

#include "daemon/loop/loop.hpp"

namespace kubexm {

/// Calls back once after a period without touch(). Loop thread.
class IdleTimer {
public:
    static constexpr std::chrono::seconds kPeriod{5};

    /// `loop` outlives the timer.
    IdleTimer(Loop& loop, Loop::Callback on_idle, std::chrono::milliseconds period = kPeriod);

    /// Starts the period again.
    void touch();

private:
    Loop& loop_;
    Loop::Callback on_idle_;
    std::chrono::milliseconds period_;
    Loop::Handle timer_;
};

}  // namespace kubexm
