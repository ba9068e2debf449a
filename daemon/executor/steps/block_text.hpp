#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kubexm::executor {

// Our lines between two marker lines in a text of another owner. Pure.

/// Replaces the block, or appends it.
std::string with_block(std::string_view text, std::string_view name,
                       const std::vector<std::string>& lines);

/// Removes the block, if there is one.
std::string without_block(std::string_view text, std::string_view name);

}  // namespace kubexm::executor
