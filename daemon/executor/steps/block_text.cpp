#include "daemon/executor/steps/block_text.hpp"

#include <fmt/format.h>

#include <optional>

namespace kubexm::executor {

namespace {

struct Place {
    std::size_t begin = 0;
    std::size_t end = 0;
};

std::string begin_marker(std::string_view name) {
    return fmt::format("# kubexm begin: {}\n", name);
}
std::string end_marker(std::string_view name) { return fmt::format("# kubexm end: {}\n", name); }

/// The position of a marker at the beginning of a line.
std::size_t find_line(std::string_view text, const std::string& marker, std::size_t from) {
    std::size_t at = text.find(marker, from);
    while (at != std::string_view::npos && at != 0 && text[at - 1] != '\n') {
        at = text.find(marker, at + 1);
    }
    return at;
}

std::optional<Place> find_block(std::string_view text, std::string_view name) {
    const std::string last = end_marker(name);
    const std::size_t begin = find_line(text, begin_marker(name), 0);
    if (begin == std::string_view::npos) return std::nullopt;
    const std::size_t end = find_line(text, last, begin);
    if (end == std::string_view::npos) return std::nullopt;  // broken by an editor: not ours
    return Place{begin, end + last.size()};
}

}  // namespace

std::string with_block(std::string_view text, std::string_view name,
                       const std::vector<std::string>& lines) {
    std::string block = begin_marker(name);
    for (const std::string& line : lines) block += line + "\n";
    block += end_marker(name);
    if (const auto place = find_block(text, name)) {
        return std::string(text.substr(0, place->begin)) + block +
               std::string(text.substr(place->end));
    }
    const bool open_end = !text.empty() && !text.ends_with('\n');
    return std::string(text) + (open_end ? "\n" : "") + block;
}

std::string without_block(std::string_view text, std::string_view name) {
    const auto place = find_block(text, name);
    if (!place) return std::string(text);
    return std::string(text.substr(0, place->begin)) + std::string(text.substr(place->end));
}

}  // namespace kubexm::executor
