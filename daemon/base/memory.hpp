#pragma once

namespace kubexm {

/// Returns free heap to the kernel: a start or a large plan needs more than a process at rest.
void trim_memory();

}  // namespace kubexm
