#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kubexm {

/// One character of UTF-8 text.
struct Character {
    char32_t code = 0;
    std::size_t bytes = 0;

    bool operator==(const Character&) const = default;
};

/// The first character of `text`, which must not be empty; nothing if it is not well-formed UTF-8.
std::optional<Character> first_character(std::string_view text);

/// The text for display on one line: control characters, characters that change the direction of
/// text and bytes that are not UTF-8 become \n, \x1b and the like; a backslash is doubled.
std::string printable(std::string_view text);
/// Whether printable() leaves the text as it is.
bool is_printable(std::string_view text);

/// As much of the text as fits into `max_bytes`, cut between characters; bytes that are not UTF-8
/// become U+FFFD.
std::string bounded_utf8(std::string_view text, std::size_t max_bytes);

}  // namespace kubexm
