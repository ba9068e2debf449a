#pragma once

#include "daemon/executor/host/bus.hpp"
#include "daemon/executor/host/systemd.hpp"

// Private to the module: how a command is told to systemd.

namespace kubexm::executor {

/// Adds name, mode and properties of the unit to a call of StartTransientUnit.
void describe_transient(bus::Request& request, const TransientCommand& command,
                        bus::Deadline deadline);

}  // namespace kubexm::executor
