#pragma once

#include <utility>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/executor/journal/directory.hpp"

namespace kubexm::executor::journal {

/// Says that a journal directory belongs to this process, until it goes. The kernel lets go of it
/// with the process, however that ends.
class ProcessLock {
public:
    /// conflict: another holder, with its process id if that can be known.
    static Result<ProcessLock> take(const Directory& directory);

private:
    explicit ProcessLock(Fd fd) : fd_(std::move(fd)) {}
    Fd fd_;
};

}  // namespace kubexm::executor::journal
