#include "daemon/agent/on_behalf_of.hpp"

#include "daemon/agent/state.hpp"

namespace kubexm::agent {

namespace {

std::optional<model::OnBehalfOf> management() {
    return model::OnBehalfOf{0, model::Origin::management};
}

}  // namespace

std::optional<model::OnBehalfOf> claim_of_person(std::uint32_t uid) {
    return model::OnBehalfOf{uid, model::Origin::control};
}

std::optional<model::OnBehalfOf> asked_by(const AgentState& state, const Decision& decision) {
    const Memory& memory = state.memory;
    switch (decision.action) {
        case Action::pause:
            return memory.pause ? claim_of_person(memory.pause->uid) : std::nullopt;
        case Action::release:
            return memory.leave ? claim_of_person(memory.leave->uid) : management();
        case Action::adopt:
            if (memory.adopted == decision.owner && memory.adopted_by) {
                return claim_of_person(*memory.adopted_by);
            }
            return management();
        case Action::ignore:
        case Action::join:
            return management();
        case Action::wait:
        case Action::refuse:
        case Action::hold:
        case Action::maintain:
            break;
    }
    return std::nullopt;
}

std::optional<model::OnBehalfOf> repair_asked_by(const AgentState& state) {
    return state.repair_asked_by ? claim_of_person(*state.repair_asked_by) : std::nullopt;
}

}  // namespace kubexm::agent
