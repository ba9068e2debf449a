#pragma once

#include <chrono>

#include "daemon/model/snapshot.hpp"

namespace kubexm::agent {

struct AgentState;

/// The status for API, page and command line. `previous` has the times at which conditions changed
/// their status; `now` is for those that change now. Pure.
model::Snapshot snapshot_of(const AgentState& state, const model::Snapshot& previous,
                            std::chrono::sys_seconds now);

}  // namespace kubexm::agent
