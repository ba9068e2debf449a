#pragma once

#include <chrono>

#include "daemon/loop/loop.hpp"

namespace kubexm {

/// Does something once when nothing was going on for a while. Loop thread.
class IdleTimer {
public:
    static constexpr std::chrono::seconds kQuiet{5};

    /// `loop` outlives it.
    IdleTimer(Loop& loop, Loop::Callback then, std::chrono::milliseconds quiet = kQuiet);

    /// Something is going on: the while begins anew.
    void touch();

private:
    Loop& loop_;
    Loop::Callback then_;
    std::chrono::milliseconds quiet_;
    Loop::Handle timer_;
};

}  // namespace kubexm
