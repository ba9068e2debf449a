#include "daemon/agent/known_node.hpp"

namespace kubexm::agent {

bool has_no_node(const AgentState& state) {
    const auto& known = state.executor.known;
    return state.released ||
           (known && !state.executor.is_interrupted && known->present_machines().empty());
}

const JoinedMachine* remembered_node(const AgentState& state) {
    const auto& joined = state.memory.joined;
    const auto& known = state.executor.known;
    return joined && (!known || known->has(joined->owner)) ? &*joined : nullptr;
}

bool is_leaving(const AgentState& state) {
    return state.memory.leave && remembered_node(state) != nullptr;
}

bool became_ready(const AgentState& state, const std::string& owner) {
    if (has_no_node(state)) return false;
    const auto& joined = state.memory.joined;
    return (state.node && state.node->owner == owner && state.node->became_ready) ||
           (joined && joined->owner == owner && joined->became_ready);
}

bool is_repaired(const AgentState& state, const std::string& owner) {
    if (!state.decision || !allows_repair(state.decision->action)) return false;
    const bool is_meant = owner == state.decision->owner || owner == state.decision->from;
    const auto& known = state.executor.known;
    return is_meant && (became_ready(state, owner) || (known && known->is_joined(owner)));
}

}  // namespace kubexm::agent
