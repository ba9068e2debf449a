#pragma once

#include <string>
#include <vector>

#include "daemon/base/deadline.hpp"
#include "daemon/base/error.hpp"

namespace kubexm::executor {

/// Runs a program without arguments from outside, and returns its standard output. It gets nothing
/// to read, and no environment but GOMAXPROCS=1. unavailable: it fails or is killed. exhausted: it
/// prints more than `limit` bytes. timeout: the deadline passed; it was killed. Worker thread.
Result<std::string> output_of(const std::vector<std::string>& argv, std::size_t limit,
                              Deadline deadline);

}  // namespace kubexm::executor
