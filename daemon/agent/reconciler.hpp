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

/// Brings this host to where its ByoHost wants it: looks, decides, and lets one activity at a time
/// do it. Everything is decided again from what is there whenever something changed or failed.
class Reconciler {
public:
    Reconciler(AgentContext& context, Management& management);

    void on_host(const model::HostRecord& host);
    /// Before the way to the management cluster changes. A host is told again on the new one.
    void on_management_lost();
    void on_executor(const Result<>& answer);
    /// Somebody looks: what the executor sees is asked for anew.
    void refresh();

private:
    void look();
    void look_later(const Error& why);
    void on_glance(const Result<ExecutorState>& state);
    bool is_busy() const;
    void decide_again();
    void stop();
    void begin(const Decision& decision);
    void join(const std::string& owner);
    void follow(const std::string& plan);
    void tend(const std::string& owner);
    void release(const std::string& owner);
    void on_node(const Result<model::NodeRecord>& node);
    void on_released(const Result<std::string>& about_node);
    void fail_activity(const Error& error);
    void retry_later();
    void show(const Decision& decision);
    void show_hold(const Decision& decision);

    AgentContext& context_;
    Management& management_;
    Reporter reporter_;
    HostProbe look_;
    HostProbe glance_;  // for those who look, beside the one that decisions wait for
    bool glancing_ = false;
    std::optional<model::HostRecord> host_;
    std::optional<ExecutorState> executor_;
    std::optional<Decision> current_;
    std::unique_ptr<PlanRun> follow_;
    std::unique_ptr<Joining> joining_;
    std::unique_ptr<NodeMonitor> tending_;
    std::unique_ptr<Releasing> releasing_;
    Loop::Handle retry_;       // of what failed
    Loop::Handle look_again_;  // where a look was refused
    Backoff backoff_;
};

}  // namespace kubexm::agent
