#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kubexm::hands {

/// The lines of a unified diff with three lines of context; empty where the texts are equal.
/// Bounded: what is beyond `kMaxDiffLines` is left out with a line that says so.
inline constexpr std::size_t kMaxDiffLines = 200;
std::vector<std::string> unified_diff(const std::string& path, std::string_view before,
                                      std::string_view after);

}  // namespace kubexm::hands
