#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kubexm::executor {

// Lines of ours inside somebody else's text, between two marker lines. Pure.

/// The text with the block, in place of an older one or at the end.
std::string with_block(std::string_view text, std::string_view name,
                       const std::vector<std::string>& lines);

/// The text without the block; unchanged where there is none.
std::string without_block(std::string_view text, std::string_view name);

}  // namespace kubexm::executor
