#include "daemon/agent/state_store.hpp"

#include "daemon/agent/snapshot.hpp"

namespace kubexm::agent {

StateStore::StateStore(AgentState first, Clock clock, Listener on_snapshot)
    : state_(std::move(first)),
      clock_(std::move(clock)),
      on_snapshot_(std::move(on_snapshot)),
      snapshot_(std::make_shared<const model::Snapshot>(snapshot_of(state_, {}, now()))) {}

std::chrono::sys_seconds StateStore::now() const {
    return std::chrono::floor<std::chrono::seconds>(clock_());
}

std::shared_ptr<const model::Snapshot> StateStore::snapshot() const {
    const std::lock_guard lock(mutex_);
    return snapshot_;
}

void StateStore::publish() {
    const auto previous = snapshot();
    auto next = std::make_shared<const model::Snapshot>(snapshot_of(state_, *previous, now()));
    if (*next != *previous) {
        {
            const std::lock_guard lock(mutex_);
            snapshot_ = next;
        }
        on_snapshot_(*next);
    }
    on_change_();
}

}  // namespace kubexm::agent
