#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/agent/context.hpp"
#include "daemon/agent/node_monitor.hpp"

namespace kubexm::agent {

/// Has the NodeMonitor of the machine whose node is on this host.
class MonitoredNode {
public:
    /// `on_plan` as in NodeMonitor.
    MonitoredNode(AgentContext& context, std::function<void()> on_plan);

    /// After a change of the AgentState.
    void update();
    /// A join may have stored another certificate: the next monitor uses it.
    void on_joined();

private:
    void forget();
    void monitor(const std::string& owner);
    void retry_later();

    AgentContext& context_;
    std::function<void()> on_plan_;
    std::unique_ptr<NodeMonitor> monitor_;
    std::string owner_;   // that the monitor was started for, also without success
    Loop::Handle retry_;  // after a start without success
};

}  // namespace kubexm::agent
