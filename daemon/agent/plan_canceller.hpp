#pragma once

#include <functional>
#include <string>

#include "daemon/agent/context.hpp"
#include "daemon/agent/decide.hpp"
#include "daemon/agent/lifetime_guard.hpp"
#include "daemon/base/backoff.hpp"

namespace kubexm::agent {

/// Cancels plans that a decision to change nothing does not permit any more.
class PlanCanceller {
public:
    /// `observe` leads to the next try of a cancellation that was refused.
    PlanCanceller(AgentContext& context, std::function<void()> observe);

    /// The plan of the activity that such a decision has ended.
    void cancel_own(const Decision& decision);
    /// The plan that the executor shows as running: its cancellation was refused, or a process that
    /// was killed before has begun it.
    void cancel_observed(const Decision& decision);

private:
    void cancel(const std::string& plan, const Decision& decision);
    void on_refused();

    AgentContext& context_;
    std::function<void()> observe_;
    std::string cancelled_;  // plan
    Loop::Handle observe_later_;
    Backoff backoff_;
    LifetimeGuard lifetime_;
};

}  // namespace kubexm::agent
