#pragma once

#include <chrono>
#include <string_view>

#include "daemon/base/error.hpp"

namespace kubexm::cli {

/// "90s", "30m", "2h" or "1d", up to model::kLongestPause. invalid: anything else.
Result<std::chrono::seconds> duration_from(std::string_view text);

}  // namespace kubexm::cli
