#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "daemon/agent/context.hpp"
#include "daemon/agent/lifetime_guard.hpp"
#include "daemon/agent/management.hpp"
#include "daemon/base/backoff.hpp"

namespace kubexm::agent {

/// Keeps AgentState::executor fresh: observes the host with each connection and on demand, and
/// takes over what the executor reports as changed.
class ExecutorObserver {
public:
    struct Listener {
        /// Whether an activity runs: it ends with an observation of its own.
        std::function<bool()> is_busy;
        /// ExecutorLink::observed is fresh.
        std::function<void()> on_observed;
    };
    ExecutorObserver(AgentContext& context, Management& management, Listener listener);

    /// The executor is connected, or why not.
    void on_executor(const Result<>& connected);
    /// Asks the executor what is on the host; no decision until it has answered.
    void observe();
    bool is_linked() const { return is_linked_; }

private:
    void subscribe();
    void subscribe_again(const Error& why);
    void on_event(const wire::Reply& event);
    void on_units(const wire::UnitsChanged& changed);
    void on_drift(const std::vector<wire::DriftedObject>& objects);
    void observe_unless_busy();
    void observe_later();
    void on_answer(const Result<wire::Reply>& reply);
    void on_observed(const wire::Observation& observed);
    void overlook_shown_release();

    AgentContext& context_;
    Management& management_;
    Listener listener_;
    bool is_linked_ = false;        // to the executor
    std::uint64_t newest_ = 0;      // observation: older answers are stale
    Loop::Handle observe_again_;    // after a failed observation
    Loop::Handle subscribe_again_;  // after the executor has ended the subscription
    Backoff observations_;
    Backoff subscriptions_;
    LifetimeGuard lifetime_;
};

}  // namespace kubexm::agent
