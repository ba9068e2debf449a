#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kubexm::executor {

/// The lines of a unified diff with three lines of context; empty where the texts are equal.
std::vector<std::string> unified_diff(const std::string& path, std::string_view before,
                                      std::string_view after);

// So much of a preview is shown: it fits into one frame of the wire even where JSON has to write
// each byte as six.
inline constexpr std::size_t kMaxPreviewLine = 1000;
inline constexpr std::size_t kMaxPreviewLines = 200;
inline constexpr std::size_t kMaxPreviewBytes = std::size_t{28} * 1024;

/// The lines as far as they are shown; what is left out of a line, or after the last, is counted
/// there.
std::vector<std::string> as_far_as_shown(std::vector<std::string> lines);

}  // namespace kubexm::executor
