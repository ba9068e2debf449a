#pragma once

#include <string_view>

#include "daemon/base/error.hpp"

// Private to the room.

namespace kubexm::hands {

/// Whether it is the name of one unit in systemd's grammar: "kubelet.service",
/// "getty@tty1.service"; no path and no template. invalid: says what is wrong.
Result<> check_unit_name(std::string_view name);

}  // namespace kubexm::hands
