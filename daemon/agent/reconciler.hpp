#pragma once

#include <memory>
#include <optional>
#include <string>

#include "daemon/agent/activity.hpp"
#include "daemon/agent/context.hpp"
#include "daemon/agent/decide.hpp"
#include "daemon/agent/event_recorder.hpp"
#include "daemon/agent/management.hpp"
#include "daemon/agent/node_monitor.hpp"
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
    void on_executor(const Result<>& connected);
    /// Asks the executor what is on the host; no decision until it has answered.
    void observe();
    /// Also where nothing but the time has changed.
    void evaluate_soon();

private:
    bool is_busy() const { return joining_ || releasing_ || followed_; }
    void observe_unless_busy();
    void evaluate();
    void go_on(const Decision& decision);
    void switch_to(const Decision& decision);
    void forget_machine();
    void write_memory_later();
    void remember_stale_order(const Decision& decision);
    void remove_stale_credentials(const std::string& owner);
    void begin(const Decision& decision);
    void begin_join(const Decision& decision);
    void begin_release(const Decision& decision);
    void begin_repair(const std::string& owner);
    void on_repaired(std::chrono::sys_seconds begun, const Result<wire::PlanSummary>& end);
    void subscribe();
    void subscribe_again(const Error& why);
    void on_event(const wire::Reply& event);
    void on_units(const wire::UnitsChanged& changed);
    void on_drift(const std::vector<wire::DriftedObject>& objects);
    void follow(const std::string& plan);
    void on_observed(const Result<wire::Reply>& reply);
    void overlook_shown_release();
    void on_released(const Result<Freed>& freed);
    void on_release_observed();
    void end_release(bool freed);
    void end_activity(const Result<>& outcome);
    void fail_activity(const Error& error);
    bool is_refused_for_now(const Error& error);
    void monitor_node();
    void monitor_later();
    void forget_monitor();
    void cancel_running_plan(const Decision& decision);
    void cancel_what_still_runs(const Decision& decision);
    void cancel(const std::string& plan, const Decision& decision);
    void observe_later();
    std::string unseen_end() const;
    void arm_end_of_pause();
    void arm_next_repair();

    AgentContext& context_;
    Management& management_;
    Reporter reporter_;
    EventRecorder events_;
    SettingsReader settings_;
    WaitingChecks waiting_checks_;
    std::unique_ptr<NodeMonitor> monitor_;
    std::string monitored_;       // owner that the monitor was started for, also without success
    Loop::Handle monitor_later_;  // without success
    std::unique_ptr<Activity<void>> joining_;
    std::unique_ptr<Activity<Freed>> releasing_;
    std::unique_ptr<Activity<wire::PlanSummary>> followed_;  // or a repair
    bool evaluation_pending_ = false;
    bool is_joined_in_vain_ = false;  // a join is done, and the decision is still to join
    std::uint64_t observation_ = 0;   // number of the newest request: older answers are stale
    Loop::Handle retry_;              // of a failed activity
    std::uint32_t refusals_ = 0;      // by the executor, in a row
    Loop::Handle observe_again_;      // after a failed observation, or a refused cancellation
    std::string cancelled_;           // plan
    bool is_linked_ = false;          // to the executor
    Loop::Handle subscribe_later_;    // after the executor has ended the subscription
    Backoff subscriptions_;
    Loop::Handle end_of_pause_;
    Loop::Handle next_repair_;
    std::optional<std::chrono::sys_seconds> next_repair_at_;  // while next_repair_ waits
    Backoff backoff_;
    Backoff memory_backoff_;
    Loop::Handle write_memory_;
    LifetimeGuard lifetime_;
};

}  // namespace kubexm::agent
