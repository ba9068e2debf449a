#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "daemon/agent/context.hpp"

namespace kubexm::agent {

/// Wakes the decision when the time alone changes it: at the end of a pause, and of a repair's
/// back-off.
class DecisionTimers {
public:
    DecisionTimers(AgentContext& context, std::function<void()> evaluate)
        : context_(context), evaluate_(std::move(evaluate)) {}

    /// After a change of the AgentState.
    void update();

private:
    void arm_end_of_pause();
    void arm_next_repair();

    AgentContext& context_;
    std::function<void()> evaluate_;
    Loop::Handle end_of_pause_;
    Loop::Handle next_repair_;
    std::optional<std::chrono::sys_seconds> next_repair_at_;  // while next_repair_ waits
};

}  // namespace kubexm::agent
