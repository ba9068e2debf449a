#pragma once

#include <functional>
#include <optional>

#include "daemon/agent/context.hpp"
#include "daemon/agent/decide.hpp"
#include "daemon/agent/lifetime_guard.hpp"

namespace kubexm::agent {

/// Asks the executor what is on this host; shows the units in the Snapshot.
class HostProbe {
public:
    using Done = std::function<void(const Result<ExecutorState>&)>;
    explicit HostProbe(AgentContext& context) : context_(context) {}

    void start(Done done);

private:
    void on_observation(const wire::Observation& observed);
    void ask_for_last_plan(Done done);
    void on_plan(const wire::PlanSummary& plan);

    AgentContext& context_;
    ExecutorState state_;
    LifetimeGuard lifetime_;
};

}  // namespace kubexm::agent
