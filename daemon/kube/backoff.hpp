#pragma once

#include <chrono>

#include "daemon/kube/api.hpp"

namespace kubexm::kube {

/// How long to wait after a failure: the numbers of client-go's reflector, longer where asking
/// sooner cannot help.
class Backoff {
public:
    /// `jitter` is from 0 to below 1: the wait is up to twice as long, so that thousands of us do
    /// not come back together.
    std::chrono::milliseconds next(const Failure& failure, double jitter);
    void reset() { failures_ = 0; }

private:
    int failures_ = 0;  // in a row
};

}  // namespace kubexm::kube
