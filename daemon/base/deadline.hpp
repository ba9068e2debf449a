#pragma once

#include <chrono>

namespace kubexm {

/// When a call that waits returns at the latest.
using Deadline = std::chrono::steady_clock::time_point;

}  // namespace kubexm
