#pragma once

#include <stop_token>

namespace kubexm::executor {

/// Requests to a plan to stop before its next step.
struct Stop {
    std::stop_token cancel;  // for good: the plan becomes `cancelled`
    std::stop_token leave;   // for now: this process ends, the next one resumes the plan
};

}  // namespace kubexm::executor
