#pragma once

#include <cstdint>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/model/allow.hpp"
#include "daemon/model/plan.hpp"

namespace kubexm::executor {

/// Whether root's allow-lists permit every step of the plan. Pure. denied, invalid: names the step
/// and, where there is one, the allow-list that lacks it.
Result<> permitted(const model::Plan& plan, const model::AllowList& allow);

/// Whether root has switched the check off for drop-ins that replace a command. Pure.
bool permits_any_command(const model::AllowList& allow);

/// Whether a user may apply a plan for an owner. kubexmd's plans are for machines, root's for
/// others; of machines only for one that the journal knows, to help out. Pure. denied: says why.
Result<> may_apply_for(const std::string& owner, bool is_known, std::uint32_t user);

/// Whether a user may undo or repair the objects of an owner. Pure. denied: says why.
Result<> may_change_objects_of(const std::string& owner, std::uint32_t user);

}  // namespace kubexm::executor
