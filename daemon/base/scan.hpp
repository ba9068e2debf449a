#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace kubexm {

// Predicates for the grammars, and parts of texts. ASCII only: <cctype> depends on the locale.

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_lower_or_digit(char c) { return is_lower(c) || is_digit(c); }
constexpr bool is_alphanumeric(char c) { return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z'); }
constexpr bool one_of(char c, std::string_view set) {
    return set.find(c) != std::string_view::npos;
}

/// A letter, a digit or one of ". _ -".
constexpr bool is_name_character(char c) { return is_alphanumeric(c) || one_of(c, "._-"); }

/// Not empty, and the predicate holds for every character.
template <typename Predicate>
constexpr bool made_of(std::string_view text, Predicate predicate) {
    return !text.empty() && std::all_of(text.begin(), text.end(), predicate);
}

/// The predicate holds for every part between separators, also an empty one.
template <typename Predicate>
constexpr bool every_part(std::string_view text, char separator, Predicate predicate) {
    for (;;) {
        const std::size_t end = text.find(separator);
        if (!predicate(text.substr(0, end))) return false;
        if (end == std::string_view::npos) return true;
        text.remove_prefix(end + 1);
    }
}

/// Without their ends.
inline std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        lines.push_back(text.substr(0, text.find('\n')));
        text.remove_prefix(std::min(lines.back().size() + 1, text.size()));
    }
    return lines;
}

/// The words between blanks and tabs.
inline std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    for (std::size_t at = line.find_first_not_of(" \t"); at != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
        words.push_back(line.substr(at, end - at));
        at = line.find_first_not_of(" \t", end);
    }
    return words;
}

}  // namespace kubexm
