#include "daemon/agent/context.hpp"

#include "daemon/base/log.hpp"

namespace kubexm::agent {

Result<> remember(AgentContext& context, const std::function<void(Memory&)>& change) {
    Memory memory = context.state.read().memory;
    change(memory);
    if (memory == context.state.read().memory && !context.state.read().is_memory_unwritten) {
        return {};
    }
    auto stored = store_memory(context.store, memory);
    if (!stored) {
        log::warning(stored.error().what);
        return stored;
    }
    context.state.change([&](AgentState& state) {
        state.memory = std::move(memory);
        state.is_memory_unwritten = false;
    });
    return {};
}

Result<> remember_anyway(AgentContext& context, const std::function<void(Memory&)>& change) {
    auto stored = remember(context, change);
    if (stored) return stored;
    context.state.change([&](AgentState& state) {
        change(state.memory);
        state.is_memory_unwritten = true;
    });
    return stored;
}

void note_refusal(AgentContext& context, const Error& error) {
    if (error.code != Code::unavailable && error.code != Code::exhausted) return;
    context.state.change([&](AgentState& state) { state.executor.refused = error; });
}

}  // namespace kubexm::agent
