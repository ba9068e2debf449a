#pragma once

#include <cstdint>
#include <optional>

#include "daemon/executor/wire/messages.hpp"

namespace kubexm::agent {

struct AgentState;
struct Decision;

/// Who gave the order behind a plan, for the executor's audit; nothing: kubexmd acts on its own.
using OnBehalfOf = std::optional<wire::OnBehalfOf>;

OnBehalfOf claim_of_person(std::uint32_t uid);

/// The person whose word a decision follows, or the management cluster. Pure.
OnBehalfOf asked_by(const AgentState& state, const Decision& decision);

/// The person who asked for a repair; without one it is kubexmd's own. Pure.
OnBehalfOf repair_asked_by(const AgentState& state);

}  // namespace kubexm::agent
