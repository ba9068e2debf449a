#pragma once

#include <string>
#include <utility>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/base/state_directory.hpp"

namespace kubexm {

/// An exclusive lock on a state directory. The kernel releases it with the process.
class ProcessLock {
public:
    /// conflict: held already, by this or another process; the message has its process id.
    static Result<ProcessLock> take(const StateDirectory& directory, const std::string& file);

private:
    explicit ProcessLock(Fd fd) : fd_(std::move(fd)) {}
    Fd fd_;
};

}  // namespace kubexm
