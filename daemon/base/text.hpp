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

/// The character that `text`, which is not empty, begins with; nothing where its first bytes are
/// not well-formed UTF-8.
std::optional<Character> first_character(std::string_view text);

/// The text as it can be shown to a person on one line: control characters, characters that move
/// text around and bytes that are no UTF-8 become \n, \x1b and the like, a backslash becomes two.
std::string printable(std::string_view text);
/// Whether printable() leaves the text as it is.
bool is_printable(std::string_view text);

}  // namespace kubexm
