#pragma once

#include <chrono>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/model/command.hpp"

namespace kubexm::cli {

// Commands to kubexmd, for root; each prints to standard output and returns an exit code.

struct OperationSockets {
    std::string control;   // of kubexmd
    std::string executor;  // for root's way out
    /// For a kubexmd that restarts, which after a crash takes RestartSec=20 and its start.
    std::chrono::seconds patience{30};
};

/// Prints kubexmd's answer. conflict, denied: refused. unavailable: kubexmd does not listen.
/// timeout: it does not answer, or cannot decide yet. A leave goes to the executor where nothing
/// listens, and is shown to its end.
Result<int> operate(const OperationSockets& sockets, const model::Command& command);

/// operate() of leave, and shows the release to its end. Ctrl-C ends the showing only.
Result<int> leave(const OperationSockets& sockets);

}  // namespace kubexm::cli
