#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kubexm::executor {

/// The lines of a unified diff with three lines of context; empty where the texts are equal.
std::vector<std::string> unified_diff(const std::string& path, std::string_view before,
                                      std::string_view after);

// A preview of this size fits into one frame of the wire, even if JSON escapes every byte as six.
inline constexpr std::size_t kMaxPreviewLine = 1000;
inline constexpr std::size_t kMaxPreviewLines = 200;
inline constexpr std::size_t kMaxPreviewBytes = std::size_t{28} * 1024;

/// Cuts long lines and long lists, and says in place how much was cut.
std::vector<std::string> shorten_preview(std::vector<std::string> lines);

}  // namespace kubexm::executor
