#pragma once

#include "daemon/base/error.hpp"
#include "daemon/executor/steps/context.hpp"

// Private to the module.

namespace kubexm::executor {

/// Whether systemd would start a unit as the file says that kubexm wrote: with its command and no
/// other, as its user, from its files; success also where kubexm wrote none. A drop-in of a package
/// may change that: kubelet would then be another program, or another node. conflict: names the
/// file that does.
Result<> starts_as_written(Context& context, const UnitStatus& unit);

}  // namespace kubexm::executor
