#pragma once

#include <chrono>

#include "daemon/base/backoff.hpp"
#include "daemon/kube/api.hpp"

namespace kubexm::kube {

/// The wait after a failed request: as client-go's reflector, longer where a retry cannot help
/// before an operator acts.
class RequestBackoff {
public:
    /// `jitter` is from 0 to below 1, see Backoff.
    std::chrono::milliseconds next(const Failure& failure, double jitter);
    void reset() { backoff_.reset(); }

private:
    Backoff backoff_{std::chrono::milliseconds(800), std::chrono::seconds(30)};
};

}  // namespace kubexm::kube
