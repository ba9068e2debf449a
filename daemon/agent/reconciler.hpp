#pragma once

#include <memory>
#include <string>

#include "daemon/agent/activity.hpp"
#include "daemon/agent/context.hpp"
#include "daemon/agent/decide.hpp"
#include "daemon/agent/decision_timers.hpp"
#include "daemon/agent/event_recorder.hpp"
#include "daemon/agent/executor_observer.hpp"
#include "daemon/agent/host_release.hpp"
#include "daemon/agent/management.hpp"
#include "daemon/agent/memory_keeper.hpp"
#include "daemon/agent/monitored_node.hpp"
#include "daemon/agent/plan_canceller.hpp"
#include "daemon/agent/reporter.hpp"
#include "daemon/agent/settings_reader.hpp"
#include "daemon/agent/waiting_checks.hpp"
#include "daemon/base/backoff.hpp"

namespace kubexm::agent {

/// Brings this host to the state that its orders ask for: after every change of the AgentState it
/// decides again, and runs one activity at a time. It has no state of its own to lose.
class Reconciler {
public:
    Reconciler(AgentContext& context, Management& management);
    Reconciler(const Reconciler&) = delete;
    Reconciler& operator=(const Reconciler&) = delete;
    ~Reconciler();

    /// AgentState::host has a new version.
    void on_host();
    /// Before the API of the management cluster is replaced; on_host follows.
    void on_management_lost();
    void on_executor(const Result<>& connected) { observer_.on_executor(connected); }
    /// Also where nothing but the time has changed.
    void evaluate_soon();

private:
    bool is_busy() const { return joining_ || releasing_ || followed_; }
    void evaluate();
    void go_on(const Decision& decision);
    void switch_to(const Decision& decision);
    void remove_stale_credentials(const std::string& owner);
    void begin(const Decision& decision);
    void begin_join(const Decision& decision);
    void on_joined(const Result<>& outcome);
    void begin_release(const Decision& decision);
    void on_released(const Result<>& outcome);
    void begin_repair(const std::string& owner);
    void on_repaired(std::chrono::sys_seconds begun, const Result<wire::PlanSummary>& end);
    void follow(const std::string& plan);
    std::string unseen_end() const;
    void fail_activity(const Error& error);
    bool is_refused_for_now(const Error& error);

    AgentContext& context_;
    Management& management_;
    Reporter reporter_;
    EventRecorder events_;
    SettingsReader settings_;
    WaitingChecks waiting_checks_;
    DecisionTimers timers_;
    MemoryKeeper memory_;
    ExecutorObserver observer_;
    MonitoredNode node_;
    PlanCanceller canceller_;
    std::unique_ptr<Activity<void>> joining_;
    std::unique_ptr<HostRelease> releasing_;
    std::unique_ptr<Activity<wire::PlanSummary>> followed_;  // or a repair
    bool evaluation_pending_ = false;
    bool is_joined_in_vain_ = false;  // a join is done, and the decision is still to join
    Loop::Handle retry_;              // of a failed activity
    std::uint32_t refusals_ = 0;      // by the executor, in a row
    Backoff backoff_;
    LifetimeGuard lifetime_;
};

}  // namespace kubexm::agent
