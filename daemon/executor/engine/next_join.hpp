#pragma once

#include "daemon/model/step.hpp"

namespace kubexm::executor {

/// Whether an object that an undo could not restore would harm the next join: it may be a running
/// pod, a mount, a unit of ours or a pod network, or an object that the executor and the checks
/// before a join take for another cluster's node. Every other object is named and tried again, and
/// the host is free meanwhile. Pure. Private to this module.
bool harms_next_join(const model::Step& step);

}  // namespace kubexm::executor
