#pragma once

#include <vector>

#include "daemon/kube/event.hpp"

namespace kubexm::agent {

struct AgentState;

/// The news between two states of kubexmd: statements that are true and were not true before. A
/// restart of kubexmd is no news. Pure.
std::vector<kube::HostEvent> events_of(const AgentState& before, const AgentState& after);

}  // namespace kubexm::agent
