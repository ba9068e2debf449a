#include "daemon/agent/decision_timers.hpp"

#include "daemon/agent/orders.hpp"
#include "daemon/agent/repair_backoff.hpp"

namespace kubexm::agent {

using namespace std::chrono_literals;

void DecisionTimers::update() {
    arm_end_of_pause();
    arm_next_repair();
}

/// Anew each time: a timer does not know that the clock was set, or that the host has slept.
void DecisionTimers::arm_end_of_pause() {
    end_of_pause_.reset();
    const auto& pause = context_.state.read().memory.pause;
    const auto now = context_.state.now();
    if (!pause || pause->until == 0 || !is_active(*pause, now)) return;
    const auto left = std::chrono::seconds(pause->until) - now.time_since_epoch();
    auto timer = context_.loop.after(left + 1s, [this] {
        context_.state.change([](AgentState&) {});  // the status depends on it, too
    });
    if (timer) end_of_pause_ = *std::move(timer);
}

/// The executor sends what differs once, also where its repair is refused.
void DecisionTimers::arm_next_repair() {
    const auto now = context_.state.now();
    const auto next = next_repair(context_.state.read(), now);
    if (next == next_repair_at_) return;
    next_repair_at_ = next;
    next_repair_.reset();
    if (!next) return;
    auto timer = context_.loop.after(*next - now, [this] {
        next_repair_at_.reset();
        evaluate_();
    });
    if (timer) next_repair_ = *std::move(timer);
}

}  // namespace kubexm::agent
