#pragma once

#include <string_view>

#include "daemon/base/error.hpp"

// Private to the module.

namespace kubexm::executor {

/// Whether it is the name of one unit in systemd's grammar: "kubelet.service",
/// "getty@tty1.service"; no path and no template. invalid: says what is wrong.
Result<> check_unit_name(std::string_view name);

/// Whether the unit of a mount or swap can be that of a path below the directory. Never false for
/// one that is; true for one that is not where systemd had to shorten its name.
bool may_name_a_path_below(std::string_view unit, std::string_view directory);

}  // namespace kubexm::executor
