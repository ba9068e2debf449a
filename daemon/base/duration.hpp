#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace kubexm {

/// "90s", "30m", "2h" or "1d". None: anything else, or more than about a hundred years.
std::optional<std::chrono::seconds> duration_in(std::string_view text);

}  // namespace kubexm
