#pragma once

#include <vector>

#include "daemon/executor/engine/run.hpp"
#include "daemon/model/plan.hpp"

namespace kubexm::executor {

/// At the end of a plan: undoes the older generations of every series that the plan has a step of,
/// except the previous one. Returns the objects that could not be restored. An error is the
/// journal's. Private to this module.
Result<std::vector<model::Remaining>> supersede(Run& run, const model::Plan& plan);

}  // namespace kubexm::executor
