#include "daemon/agent/join_strategy.hpp"

#include "daemon/agent/releasing.hpp"
#include "daemon/agent/state.hpp"
#include "daemon/agent/tls_join.hpp"

namespace kubexm::agent {

std::unique_ptr<Activity<Freed>> JoinStrategy::leave(AgentContext& context,
                                                     const std::string& owner,
                                                     std::optional<model::OnBehalfOf> on_behalf_of,
                                                     Activity<Freed>::Done done) const {
    return std::make_unique<Releasing>(context, *this, owner, on_behalf_of, std::move(done));
}

const JoinStrategy* find_strategy(std::string_view join_mode) {
    static const TlsBootstrap tls_bootstrap;
    return join_mode == TlsBootstrap::kMode ? &tls_bootstrap : nullptr;
}

std::string join_mode_of(const AgentState& state, const std::string& owner) {
    const auto& joined = state.memory.joined;
    const bool is_known = joined && joined->owner == owner;
    return is_known ? joined->join_mode : std::string(TlsBootstrap::kMode);
}

const JoinStrategy& strategy_of(const AgentState& state, const std::string& owner) {
    const JoinStrategy* found = find_strategy(join_mode_of(state, owner));
    return found == nullptr ? *find_strategy(TlsBootstrap::kMode) : *found;
}

}  // namespace kubexm::agent
