#pragma once

#include "daemon/base/error.hpp"
#include "daemon/executor/steps/context.hpp"

// Private to the module.

namespace kubexm::executor {

/// Whether systemd would start a unit with the command in the file that kubexm wrote; success also
/// where kubexm wrote none. A drop-in of a package may replace it: kubelet would then be another
/// program, or another node. conflict: names the file that does.
Result<> has_our_command(Context& context, const UnitStatus& unit);

}  // namespace kubexm::executor
