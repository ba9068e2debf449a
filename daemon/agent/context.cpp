#include "daemon/agent/context.hpp"

#include "daemon/base/log.hpp"

namespace kubexm::agent {

Result<> remember(AgentContext& context, const std::function<void(Memory&)>& change) {
    Memory memory = context.state.read().memory;
    change(memory);
    if (memory == context.state.read().memory) return {};
    auto stored = store_memory(context.store, memory);
    if (!stored) {
        log::warning(stored.error().what);
        return stored;
    }
    context.state.change([&](AgentState& state) { state.memory = std::move(memory); });
    return {};
}

}  // namespace kubexm::agent
