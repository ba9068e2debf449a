#pragma once

#include <string>

namespace kubexm::agent {

struct AgentState;

/// The orders that a joined node cannot follow by itself, with the next step for a person; empty:
/// it follows all. Pure.
std::string pending_orders(const AgentState& state);

}  // namespace kubexm::agent
