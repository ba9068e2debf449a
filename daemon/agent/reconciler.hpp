#pragma once

#include <memory>
#include <optional>
#include <string>

#include "daemon/agent/context.hpp"
#include "daemon/agent/decide.hpp"
#include "daemon/agent/host_probe.hpp"
#include "daemon/agent/joining.hpp"
#include "daemon/agent/management.hpp"
#include "daemon/agent/node_monitor.hpp"
#include "daemon/agent/releasing.hpp"
#include "daemon/agent/reporter.hpp"
#include "daemon/base/backoff.hpp"

namespace kubexm::agent {

/// Brings this host to the state its ByoHost asks for: observes, decides, and runs one activity at
/// a time. Decides again from a fresh observation whenever something has changed, ended or failed.
class Reconciler {
public:
    Reconciler(AgentContext& context, Management& management);

    void on_host(const model::HostRecord& host);
    /// Before management.api() is replaced; on_host follows.
    void on_management_lost();
    void on_executor(const Result<>& connected);
    /// A client reads the status: observe the host for it.
    void refresh();

private:
    void observe();
    void observe_later(const Error& why);
    std::string unseen_end() const;
    void on_refreshed(const Result<ExecutorState>& state);
    bool is_busy() const;
    void decide_again();
    void stop();
    void begin(const Decision& decision);
    void join(const std::string& owner);
    void follow(const std::string& plan);
    void monitor(const std::string& owner);
    void release(const std::string& owner);
    void on_node(const Result<model::NodeRecord>& node);
    void on_released(const Result<std::string>& message);
    void fail_activity(const Error& error);
    void retry_later();
    void show(const Decision& decision);
    void report_hold(const Decision& decision);

    AgentContext& context_;
    Management& management_;
    Reporter reporter_;
    HostProbe probe_;
    HostProbe refresh_probe_;  // apart from the one that decisions wait for
    bool is_refreshing_ = false;
    std::optional<model::HostRecord> host_;
    std::optional<ExecutorState> executor_;
    std::optional<Decision> current_;
    std::unique_ptr<PlanRun> followed_;
    std::unique_ptr<Joining> joining_;
    std::unique_ptr<NodeMonitor> monitor_;
    std::unique_ptr<Releasing> releasing_;
    Loop::Handle retry_;          // of a failed activity
    Loop::Handle observe_again_;  // after a failed observation
    Backoff backoff_;
};

}  // namespace kubexm::agent
