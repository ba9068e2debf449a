#pragma once

#include <span>
#include <string_view>

namespace kubexm::config {

/// The candidate that takes the fewest edits to become `word`; the first of several. `candidates`
/// is not empty.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace kubexm::config
