#pragma once

#include "daemon/base/error.hpp"
#include "daemon/model/allow.hpp"
#include "daemon/model/plan.hpp"

namespace kubexm::executor {

/// Whether root's allow-lists let this plan be carried out. Pure. denied, invalid: names the step,
/// what it wants, and where it would have to be allowed.
Result<> permitted(const model::Plan& plan, const model::AllowList& allow);

}  // namespace kubexm::executor
