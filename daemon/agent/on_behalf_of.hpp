#pragma once

#include <cstdint>
#include <optional>

#include "daemon/model/on_behalf_of.hpp"

namespace kubexm::agent {

struct AgentState;
struct Decision;

// Who gave the order behind a plan, for the executor's audit; nothing: kubexmd acts on its own.

std::optional<model::OnBehalfOf> claim_of_person(std::uint32_t uid);

/// The person whose word a decision follows, or the management cluster. Pure.
std::optional<model::OnBehalfOf> asked_by(const AgentState& state, const Decision& decision);

/// The person who asked for a repair; without one it is kubexmd's own. Pure.
std::optional<model::OnBehalfOf> repair_asked_by(const AgentState& state);

}  // namespace kubexm::agent
