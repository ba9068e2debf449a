#pragma once

#include <string>
#include <utility>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/base/state_directory.hpp"

namespace kubexm {

/// A lock file that says who uses a state directory. The kernel releases it with the process,
/// however that ends.
class ProcessLock {
public:
    /// conflict: another holder, in this process or another one; the message has its process id.
    static Result<ProcessLock> take(const StateDirectory& directory, const std::string& file);

private:
    explicit ProcessLock(Fd fd) : fd_(std::move(fd)) {}
    Fd fd_;
};

}  // namespace kubexm
