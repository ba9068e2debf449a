#pragma once

namespace kubexm {

/// Gives back to the kernel what a start or a long piece of work needed and a process at rest does
/// not: free heap, and the pages of programs and libraries that were only read. Libraries come by
/// the dozen with those we use, and often nothing but their constructors ran. What is used again is
/// mapped again from the page cache.
void trim_memory();

}  // namespace kubexm
