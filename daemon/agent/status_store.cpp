#include "daemon/agent/status_store.hpp"

#include "daemon/agent/conditions.hpp"

namespace kubexm::agent {

StatusStore::StatusStore(model::Snapshot first, Listener on_change)
    : on_change_(std::move(on_change)),
      current_(std::make_shared<const model::Snapshot>(std::move(first))) {}

std::shared_ptr<const model::Snapshot> StatusStore::read() const {
    const std::lock_guard lock(mutex_);
    return current_;
}

void StatusStore::change(const std::function<void(model::Snapshot&)>& change) {
    auto next = std::make_shared<model::Snapshot>(*read());
    change(*next);
    {
        const std::lock_guard lock(mutex_);
        current_ = next;
    }
    on_change_(*next);
}

void StatusStore::set(model::Condition condition) {
    change([&](model::Snapshot& snapshot) {
        put(snapshot.conditions, std::move(condition), rfc3339(std::chrono::system_clock::now()));
    });
}

void StatusStore::drop(std::string_view condition_type) {
    change([&](model::Snapshot& snapshot) {
        std::erase_if(snapshot.conditions,
                      [&](const model::Condition& each) { return each.type == condition_type; });
    });
}

}  // namespace kubexm::agent
