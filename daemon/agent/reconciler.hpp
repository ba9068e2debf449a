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

private:
    void evaluate_soon();
    void evaluate();
    void go_on(const Decision& decision);
    void switch_to(const Decision& decision);
    void remove_stale_credentials(const std::string& owner);
    void begin(const Decision& decision);
    void begin_join(const Decision& decision);
    void begin_release(const Decision& decision);
    void begin_repair(const Decision& decision);
    void subscribe();
    void on_event(const wire::Reply& event);
    void on_drift(const std::vector<wire::DriftedObject>& objects);
    void follow(const std::string& plan);
    void on_observed(const Result<wire::Reply>& reply);
    void on_released(const Result<std::string>& message);
    void on_release_observed();
    void end_release(bool freed);
    void end_activity(const Result<>& outcome);
    void fail_activity(const Error& error);
    void monitor_node();
    void forget_monitor();
    void cancel_running_plan();
    std::string unseen_end() const;
    void arm_end_of_pause(const Decision& decision);

    AgentContext& context_;
    Management& management_;
    Reporter reporter_;
    EventRecorder events_;
    SettingsReader settings_;
    WaitingChecks waiting_checks_;
    std::unique_ptr<NodeMonitor> monitor_;
    std::string monitored_;  // owner that the monitor was started for, also without success
    std::unique_ptr<Activity<void>> joining_;
    std::unique_ptr<Activity<std::string>> releasing_;
    std::unique_ptr<Activity<wire::PlanSummary>> followed_;  // or a repair
    bool evaluation_pending_ = false;
    bool is_joined_in_vain_ = false;  // a join is done, and the decision is still to join
    std::uint64_t observation_ = 0;   // number of the newest request: older answers are stale
    Loop::Handle retry_;              // of a failed activity
    Loop::Handle observe_again_;      // after a failed observation
    Loop::Handle end_of_pause_;
    Loop::Handle next_repair_;
    Backoff backoff_;
    LifetimeGuard lifetime_;
};

}  // namespace kubexm::agent
