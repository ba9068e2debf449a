#pragma once

#include <string_view>

#include "daemon/base/error.hpp"

// Private to the module.

namespace kubexm::executor {

/// invalid: not the name of one unit in systemd's grammar, such as "kubelet.service" or
/// "getty@tty1.service"; no path, no template.
Result<> check_unit_name(std::string_view name);

/// Whether a mount or swap unit may have a path below the directory. Also true for a name that
/// systemd may have shortened.
bool may_name_a_path_below(std::string_view unit, std::string_view directory);

}  // namespace kubexm::executor
