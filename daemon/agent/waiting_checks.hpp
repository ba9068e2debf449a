#pragma once

#include <memory>
#include <optional>

#include "daemon/agent/context.hpp"
#include "daemon/agent/lifetime_guard.hpp"
#include "daemon/agent/management.hpp"
#include "daemon/agent/name_check.hpp"
#include "daemon/loop/loop.hpp"

namespace kubexm::agent {

/// Checks a host that waits for a machine, so that its status names the findings that would refuse
/// a join before there are orders: the host by the executor, its clock against the management
/// cluster's, and the lookup of its name. The executor keeps the results of slow checks: the checks
/// of the join are quicker.
class WaitingChecks {
public:
    WaitingChecks(AgentContext& context, const Management& management)
        : context_(context), management_(management) {}

    /// After a change of the AgentState.
    void update();

private:
    void check();
    void stop();
    void look_up_name();
    void publish();

    AgentContext& context_;
    const Management& management_;
    Loop::Handle next_;                            // while the host waits
    std::optional<wire::PreflightResult> result_;  // of the executor, since it waits
    std::unique_ptr<NameCheck> name_;              // since it waits
    std::optional<model::Finding> late_name_;
    LifetimeGuard lifetime_;
};

}  // namespace kubexm::agent
