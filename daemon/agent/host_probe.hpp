#pragma once

#include <functional>
#include <optional>

#include "daemon/agent/context.hpp"
#include "daemon/agent/decide.hpp"
#include "daemon/agent/lifetime_guard.hpp"

namespace kubexm::agent {

/// What the executor says is on this host, asked anew: for decisions, and for whoever looks at the
/// Snapshot.
class HostProbe {
public:
    using Done = std::function<void(const Result<ExecutorState>&)>;
    explicit HostProbe(AgentContext& context) : context_(context) {}

    void start(Done done);

private:
    void on_observation(const wire::Observation& seen);
    void ask_for_last_plan(Done done);
    void on_plan(const wire::PlanSummary& plan);

    AgentContext& context_;
    ExecutorState state_;
    LifetimeGuard lifetime_;
};

}  // namespace kubexm::agent
