#include "daemon/loop/idle_timer.hpp"

#include <utility>

namespace kubexm {

IdleTimer::IdleTimer(Loop& loop, Loop::Callback then, std::chrono::milliseconds quiet)
    : loop_(loop), then_(std::move(then)), quiet_(quiet) {}

void IdleTimer::touch() {
    // Where there is no timer the rest goes without what comes after it.
    if (auto timer = loop_.after(quiet_, [this] { then_(); })) timer_ = *std::move(timer);
}

}  // namespace kubexm
