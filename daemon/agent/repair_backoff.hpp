#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "daemon/agent/state.hpp"

namespace kubexm::agent {

// AgentState::repairs: when an object may be repaired again. The first repairs in a row are
// immediate, as one harm may come after the other; a repair that fails has back-off from the first.

/// A repair of this owner begins.
void note_repair(AgentState& state, const std::string& owner, std::chrono::sys_seconds now);
/// The repair that began then is done. The list of differences is outdated until the executor sends
/// a new one.
void note_repaired(AgentState& state, std::chrono::sys_seconds begun);
/// The executor has reported the present drift. The row ends where an object was not repaired for
/// long.
void update_repairs(AgentState& state, std::chrono::sys_seconds now);

/// When back-off ends of an object that differs; nothing: none has back-off.
std::optional<std::chrono::sys_seconds> next_repair(const AgentState& state,
                                                    std::chrono::sys_seconds now);

}  // namespace kubexm::agent
