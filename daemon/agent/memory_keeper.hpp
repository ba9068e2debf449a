#pragma once

#include "daemon/agent/context.hpp"
#include "daemon/agent/decide.hpp"
#include "daemon/base/backoff.hpp"

namespace kubexm::agent {

/// Writes to AgentState::memory what follows from a decision, and again what the disk refused.
class MemoryKeeper {
public:
    explicit MemoryKeeper(AgentContext& context);

    /// After a change of the AgentState.
    void update();
    /// A decision that differs from the last one.
    void on_decision(const Decision& decision);

private:
    void forget_machine();
    void remember_stale_order(const Decision& decision);

    AgentContext& context_;
    Backoff backoff_;
    Loop::Handle retry_;
};

}  // namespace kubexm::agent
