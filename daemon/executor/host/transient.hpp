#pragma once

#include "daemon/base/deadline.hpp"
#include "daemon/executor/host/bus.hpp"
#include "daemon/executor/host/systemd.hpp"

// Private to the module: the arguments of StartTransientUnit.

namespace kubexm::executor {

/// Adds name, mode and properties of the unit.
void add_transient(bus::MethodCall& request, const TransientCommand& command, Deadline deadline);

}  // namespace kubexm::executor
