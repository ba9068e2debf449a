#pragma once

#include <chrono>

#include "daemon/base/backoff.hpp"
#include "daemon/kube/api.hpp"

namespace kubexm::kube {

/// The wait after a failed request: as client-go's reflector, longer where a retry cannot help
/// before an operator acts.
class RequestBackoff {
public:
    explicit RequestBackoff(Backoff::Milliseconds first = std::chrono::milliseconds(800),
                            Backoff::Milliseconds longest = std::chrono::seconds(30))
        : longest_(longest), backoff_(first, longest) {}

    /// At least the Retry-After of the answer. `jitter` is from 0 to below 1, see Backoff.
    Backoff::Milliseconds next(const Failure& failure, double jitter);
    void reset() { backoff_.reset(); }

private:
    Backoff::Milliseconds longest_;
    Backoff backoff_;
};

}  // namespace kubexm::kube
