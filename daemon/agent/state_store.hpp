#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>

#include "daemon/agent/state.hpp"
#include "daemon/model/snapshot.hpp"

namespace kubexm::agent {

/// The time of day.
using Clock = std::function<std::chrono::system_clock::time_point()>;

/// Holds the one AgentState, and the Snapshot that is made of it. Changed by the loop's thread; any
/// thread may read the Snapshot, and keep the version it read.
class StateStore {
public:
    using Listener = std::function<void(const model::Snapshot&)>;
    StateStore(AgentState first, Clock clock, Listener on_snapshot);

    const AgentState& read() const { return state_; }
    std::chrono::sys_seconds now() const;
    std::shared_ptr<const model::Snapshot> snapshot() const;
    /// Called after each change, on the loop's thread; must not change the state itself.
    void on_change(std::function<void()> listener) { on_change_ = std::move(listener); }

    template <typename Change>
    void change(const Change& change) {
        change(state_);
        publish();
    }

private:
    void publish();

    AgentState state_;
    Clock clock_;
    Listener on_snapshot_;
    std::function<void()> on_change_ = [] {};
    mutable std::mutex mutex_;
    std::shared_ptr<const model::Snapshot> snapshot_;
};

}  // namespace kubexm::agent
