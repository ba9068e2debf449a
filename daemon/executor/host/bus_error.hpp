#pragma once

#include <systemd/sd-bus.h>

#include "daemon/base/error.hpp"

// Private to the module: errors of D-Bus and systemd as Error.

namespace kubexm::executor::bus {

/// An error of the peer or of the connection, with its message.
std::unexpected<Error> from_bus(const sd_bus_error& error);

}  // namespace kubexm::executor::bus
