#include "daemon/agent/memory_keeper.hpp"

#include "daemon/agent/conditions.hpp"

namespace kubexm::agent {

using namespace std::chrono_literals;

MemoryKeeper::MemoryKeeper(AgentContext& context) : context_(context), backoff_(1s, 5min) {}

void MemoryKeeper::update() {
    if (!context_.state.read().is_memory_unwritten) return backoff_.reset();
    if (retry_) return;
    auto timer = context_.loop.after(backoff_.next(context_.random()), [this] {
        retry_.reset();
        if (!remember(context_, [](Memory&) {})) update();
    });
    if (timer) retry_ = *std::move(timer);
}

void MemoryKeeper::on_decision(const Decision& decision) {
    if (decision.action == Action::wait && decision.owner.empty()) forget_machine();
    remember_stale_order(decision);
}

/// A kill may have come between the release and the end of its memory.
void MemoryKeeper::forget_machine() {
    std::ignore = remember_anyway(context_, [](Memory& memory) {
        memory.joined.reset();
        memory.leave.reset();
    });
}

/// A held release order stays held: writes to a restored ByoHost make it look newer than the join.
void MemoryKeeper::remember_stale_order(const Decision& decision) {
    const auto& host = context_.state.read().host;
    const bool is_stale = decision.reason == kStaleReleaseOrder;
    if (!is_stale && (!host || host->release_asked)) return;
    std::ignore = remember(
        context_, [&](Memory& memory) { memory.stale_release = is_stale ? decision.owner : ""; });
}

}  // namespace kubexm::agent
