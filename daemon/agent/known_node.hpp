#pragma once

#include <string>

#include "daemon/agent/state.hpp"

namespace kubexm::agent {

// The node of this host as kubexmd knows it, also from an earlier process. Pure.

/// No machine has objects on this host: reports about its Node are outdated.
bool has_no_node(const AgentState& state);

/// The remembered machine, where its node is on this host as far as is known: until the executor
/// has answered it is. Null: there is none.
const JoinedMachine* remembered_node(const AgentState& state);

/// `kubexmctl leave` was heard, and the remembered node is on this host.
bool is_leaving(const AgentState& state);

/// Whether the Node of this machine has been Ready. Also while the executor is observed again, and
/// while the Node does not answer.
bool became_ready(const AgentState& state, const std::string& owner);

/// Whether objects of this owner that differ are put back, at once or after their back-off.
bool is_repaired(const AgentState& state, const std::string& owner);

}  // namespace kubexm::agent
