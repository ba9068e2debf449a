#include "daemon/agent/host_release.hpp"

#include "daemon/agent/join_strategy.hpp"
#include "daemon/agent/machine_files.hpp"
#include "daemon/agent/releasing.hpp"

namespace kubexm::agent {

HostRelease::HostRelease(AgentContext& context, Reporter& reporter, Decision decision,
                         std::function<void()> observe, Done done)
    : Activity(context, std::move(done)),
      reporter_(reporter),
      decision_(std::move(decision)),
      observe_(std::move(observe)) {}

void HostRelease::start() {
    const std::string owner =
        decision_.owner.empty() ? stored_owner(context().store) : decision_.owner;
    if (owner.empty()) return on_left(Freed{});
    const AgentState& state = context().state.read();
    leaving_ = strategy_of(state, owner)
                   .leave(context(), owner, asked_by(state, decision_),
                          [this](const Result<Freed>& freed) { on_left(freed); });
    leaving_->start();
}

/// What is left on the host is observed before the ByoHost is freed. A host that had no node leaves
/// nothing to remember.
void HostRelease::on_left(const Result<Freed>& freed) {
    if (!freed) return finish(std::unexpected(freed.error()));
    if (!freed->owner.empty()) {
        std::ignore = remember_anyway(context(), [&](Memory& memory) { memory.freed = *freed; });
    }
    context().state.change([](AgentState& state) { state.released = Released{}; });
    observe_();
}

/// An interrupted adoption leaves a node with two owners: it is released when both are gone.
void HostRelease::on_observed() {
    if (!context().state.read().released) return;
    const auto& observed = context().state.read().executor.observed;
    if (!observed || observed->present_machines().empty()) return free_host();
    context().state.change([](AgentState& state) { state.released.reset(); });
    finish({});
}

/// After `kubexmctl leave` the ByoHost still names its machine: the host waits for other orders.
void HostRelease::free_host() {
    // Stale from now on: the patches must not lead to a decision.
    context().state.change([](AgentState& state) {
        const auto& freed = state.memory.freed;
        const auto& known = state.executor.known;
        if (freed && known) state.released = Released{release_message(*freed, *known)};
        state.executor.observed.reset();
    });
    const auto& host = context().state.read().host;
    if (!host || !host->release_asked) return end(true);
    reporter_.free_host(lifetime().guard([this](bool freed) { end(freed); }));
}

/// Also with a full disk. AgentState::released stays: the Event about the release needs it.
void HostRelease::end(bool freed) {
    if (freed) {
        std::ignore = remember_anyway(context(), [](Memory& memory) { memory.joined.reset(); });
    }
    freed ? finish({}) : finish(fail(Code::unavailable, "the ByoHost is not freed yet"));
}

}  // namespace kubexm::agent
