#pragma once

#include "daemon/hands/host/bus.hpp"
#include "daemon/hands/host/systemd.hpp"

// Private to the room: how a command is told to systemd.

namespace kubexm::hands {

/// Adds name, mode and properties of the unit to a call of StartTransientUnit.
void describe_transient(bus::Request& request, const TransientCommand& command,
                        bus::Deadline deadline);

}  // namespace kubexm::hands
