#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daemon/executor/host/files.hpp"
#include "daemon/executor/host/systemd.hpp"
#include "daemon/executor/journal/vault.hpp"
#include "daemon/model/step.hpp"

namespace kubexm::executor {

/// The host and the records that the verbs of a step use. Worker thread only.
struct Context {
    const Root& root;
    Systemd& systemd;
    Vault& vault;
    std::chrono::steady_clock::time_point deadline;
    /// The step that was last applied to the same object, if any.
    std::optional<model::Step> previous;
    /// What holds() has read of a unit, for the capture() that follows.
    std::optional<UnitStatus> unit;
    /// The ledger says that a step made the object; before, there was nothing.
    bool created = false;
    /// Undo: digests of the content that steps wrote to the object. Other content is somebody's.
    std::vector<std::string> written;
    /// Undo: an entry that follows makes systemd reload.
    bool reload_follows = false;
    /// The network links that root's allow-list lets undo remove.
    std::vector<std::string> links;
    /// For long steps: call it as often as you like; the receiver limits the rate.
    std::function<void(const std::string& progress_text)> progress = [](const std::string&) {};
};

}  // namespace kubexm::executor
