#include "daemon/base/memory.hpp"

#include <malloc.h>

namespace kubexm {

void trim_memory() { ::malloc_trim(0); }

}  // namespace kubexm
