#include "daemon/loop/idle_timer.hpp"

#include <utility>

namespace kubexm {

IdleTimer::IdleTimer(Loop& loop, Loop::Callback on_idle, std::chrono::milliseconds period)
    : loop_(loop), on_idle_(std::move(on_idle)), period_(period) {}

void IdleTimer::touch() {
    // Fails only once the loop has finished.
    if (auto timer = loop_.after(period_, [this] { on_idle_(); })) timer_ = *std::move(timer);
}

}  // namespace kubexm
