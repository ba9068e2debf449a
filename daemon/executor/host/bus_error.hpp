#pragma once

#include <systemd/sd-bus.h>

#include "daemon/base/error.hpp"

// Private to the module: what D-Bus and systemd call their errors, as errors of ours.

namespace kubexm::executor::bus {

/// An error of the other side or of the connection, with its own words.
std::unexpected<Error> from_bus(const sd_bus_error& error);

}  // namespace kubexm::executor::bus
