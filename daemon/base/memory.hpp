#pragma once

namespace kubexm {

/// Returns free heap to the kernel, after a start or a large plan.
void trim_memory();

}  // namespace kubexm
