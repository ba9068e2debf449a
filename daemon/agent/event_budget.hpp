#pragma once

#include <cstdint>
#include <vector>

#include "daemon/agent/context.hpp"

namespace kubexm::agent {

/// At most 20 writes of Events an hour. The memory has their times: a process that is started again
/// and again writes no more.
class EventBudget {
public:
    explicit EventBudget(AgentContext& context);

    /// Takes one, unless none is left. Repeats leave some to Events that are new.
    bool take(bool is_repeat);

private:
    using Times = std::vector<std::int64_t>;  // in seconds since 1970

    AgentContext& context_;
    Times times_;
};

}  // namespace kubexm::agent
