#pragma once

#include "daemon/base/error.hpp"
#include "daemon/model/allow.hpp"
#include "daemon/model/plan.hpp"

namespace kubexm::executor {

/// Whether root's allow-lists permit every step of the plan. Pure. denied, invalid: names the step
/// and, where there is one, the allow-list that lacks it.
Result<> permitted(const model::Plan& plan, const model::AllowList& allow);

}  // namespace kubexm::executor
