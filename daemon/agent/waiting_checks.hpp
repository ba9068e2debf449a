#pragma once

#include "daemon/agent/context.hpp"
#include "daemon/agent/lifetime_guard.hpp"
#include "daemon/loop/loop.hpp"

namespace kubexm::agent {

/// Checks a host that waits for a machine, so that its status names what would refuse a join before
/// there are orders. The executor remembers what took long: the checks of the join are quicker.
class WaitingChecks {
public:
    explicit WaitingChecks(AgentContext& context) : context_(context) {}

    /// After a change of the AgentState.
    void update();

private:
    void check();

    AgentContext& context_;
    Loop::Handle next_;  // while the host waits
    LifetimeGuard lifetime_;
};

}  // namespace kubexm::agent
