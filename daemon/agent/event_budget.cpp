#include "daemon/agent/event_budget.hpp"

#include <algorithm>

namespace kubexm::agent {

namespace {

constexpr std::int64_t kHour = 3600;
constexpr std::size_t kMostWrites = 20;
constexpr std::size_t kMostRepeats = 15;  // the rest is for Events that are new

}  // namespace

EventBudget::EventBudget(AgentContext& context)
    : context_(context), times_(context.state.read().memory.event_times.value_or(Times{})) {}

/// A clock that was set back must not keep old times for ever. A full disk keeps no Event back.
bool EventBudget::take(bool is_repeat) {
    const auto now = context_.state.now().time_since_epoch().count();
    std::erase_if(times_, [&](const auto time) { return time > now || now - time >= kHour; });
    if (times_.size() >= (is_repeat ? kMostRepeats : kMostWrites)) return false;
    times_.push_back(now);
    std::ignore = remember(context_, [&](Memory& memory) { memory.event_times = times_; });
    return true;
}

}  // namespace kubexm::agent
