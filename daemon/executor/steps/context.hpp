#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/deadline.hpp"
#include "daemon/executor/host/files.hpp"
#include "daemon/executor/host/links.hpp"
#include "daemon/executor/host/runtime.hpp"
#include "daemon/executor/host/systemd.hpp"
#include "daemon/executor/journal/vault.hpp"
#include "daemon/model/step.hpp"

namespace kubexm::executor {

/// The host and the records that the verbs of a step use. Worker thread only.
struct Context {
    const Root& root;
    Systemd& systemd;
    Vault& vault;
    Deadline deadline;
    /// The step that was last applied to the same object, if any.
    std::optional<model::Step> previous;
    /// The status of a unit that holds() has read, for the capture() that follows.
    std::optional<UnitStatus> unit;
    /// The ledger says that a step made the object; before, there was nothing.
    bool created = false;
    /// The node on the host is ours, but the ledger does not know it: root discarded the journal.
    bool has_lost_node = false;
    /// Undo: digests of the content that steps wrote to the object. Other content is not ours.
    std::vector<std::string> written;
    /// Undo: the paths of the objects that other owners have in the ledger.
    std::vector<std::string> others;
    /// Undo: an entry that follows makes systemd reload.
    bool reload_follows = false;
    /// Undo has begun a reload of systemd: the object is undone when it has ended.
    bool reloading = false;
    /// Root accepts that drop-ins replace the command of a unit.
    bool any_command = false;
    /// The network links that root's allow-list lets undo remove.
    std::vector<std::string> links;
    /// Undo: whether the container runtime answers, which has ended the objects of its pods then.
    std::function<Result<bool>(Deadline deadline)> runtime_answers = executor::runtime_answers;
    /// The bridges of the host.
    std::function<Result<std::vector<std::string>>()> bridges = list_bridges;
    /// Whether the vault may get so many bytes more, for a pre-image.
    std::function<Result<>(std::int64_t bytes)> may_preserve = [](std::int64_t) {
        return Result<>();
    };
    /// For long steps: call it as often as you like; the receiver limits the rate.
    std::function<void(const std::string& progress_text)> progress = [](const std::string&) {};
};

}  // namespace kubexm::executor
