#pragma once

#include <stop_token>

namespace kubexm::executor {

/// How a plan is asked to stop at its next step boundary.
struct Stop {
    std::stop_token cancel;  // for good: it is not wanted any more
    std::stop_token leave;   // for now: this process ends, the next one goes on with it
};

}  // namespace kubexm::executor
