#pragma once

#include <string>

#include "daemon/base/error.hpp"
#include "daemon/model/command.hpp"

namespace kubexm::cli {

// Commands to kubexmd, for root; each prints to standard output and returns an exit code.

struct OperationSockets {
    std::string control;   // of kubexmd
    std::string executor;  // for root's way out
};

/// Prints kubexmd's answer. conflict, denied: refused. unavailable: kubexmd does not answer.
/// timeout: it cannot decide yet.
Result<int> operate(const OperationSockets& sockets, const model::Command& command);

/// operate() of leave, and shows the release to its end. Ctrl-C ends the showing only.
Result<int> leave(const OperationSockets& sockets);

}  // namespace kubexm::cli
