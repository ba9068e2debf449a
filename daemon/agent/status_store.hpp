#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "daemon/model/snapshot.hpp"

namespace kubexm::agent {

/// Holds the current Snapshot. Changed by the loop's thread; any thread may read it, and keep the
/// version it read.
class StatusStore {
public:
    using Listener = std::function<void(const model::Snapshot&)>;
    /// `on_change` is called on the loop's thread.
    StatusStore(model::Snapshot first, Listener on_change);

    std::shared_ptr<const model::Snapshot> read() const;
    /// Replaces the Snapshot by a changed copy.
    void change(const std::function<void(model::Snapshot&)>& change);
    /// Keeps the time of a condition whose status stays.
    void set(model::Condition condition);
    void drop(std::string_view condition_type);

private:
    Listener on_change_;
    mutable std::mutex mutex_;
    std::shared_ptr<const model::Snapshot> current_;
};

}  // namespace kubexm::agent
