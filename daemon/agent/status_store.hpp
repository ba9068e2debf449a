#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "daemon/model/snapshot.hpp"

namespace kubexm::agent {

/// Where the one Snapshot hangs. The loop's thread changes it; any thread reads it, and keeps what
/// it read for as long as it likes.
class StatusStore {
public:
    using Listener = std::function<void(const model::Snapshot&)>;
    /// `on_change` is told on the loop's thread.
    StatusStore(model::Snapshot first, Listener on_change);

    std::shared_ptr<const model::Snapshot> read() const;
    /// Swaps in a changed copy.
    void change(const std::function<void(model::Snapshot&)>& change);
    /// Sets one condition; its time is kept where its status stays.
    void set(model::Condition condition);
    void drop(std::string_view condition_type);

private:
    Listener on_change_;
    mutable std::mutex mutex_;
    std::shared_ptr<const model::Snapshot> current_;
};

}  // namespace kubexm::agent
