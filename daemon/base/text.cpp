#include "daemon/base/text.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>

namespace kubexm {

namespace {

constexpr std::array<char32_t, 5> kSmallestOfLength{0, 0, 0x80, 0x800, 0x10000};

std::size_t length_by(unsigned char lead) {
    if (lead < 0x80) return 1;
    if (lead < 0xe0) return 2;
    return lead < 0xf0 ? 3 : 4;
}

/// Overlong forms and surrogates could hide a forbidden character.
bool is_well_formed(const Character& character) {
    const bool surrogate = character.code >= 0xd800 && character.code <= 0xdfff;
    return character.code >= kSmallestOfLength.at(character.bytes) && character.code <= 0x10ffff &&
           !surrogate;
}

/// C0 and C1 controls, line separators, and marks that change the direction of text.
bool is_control(char32_t code) {
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x200e || code == 0x200f ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

void append_escaped(std::string& to, std::string_view bytes) {
    if (bytes == "\n") {
        to += "\\n";
    } else if (bytes == "\t") {
        to += "\\t";
    } else {
        for (const char byte : bytes) {
            fmt::format_to(std::back_inserter(to), "\\x{:02x}", static_cast<unsigned char>(byte));
        }
    }
}

}  // namespace

std::optional<Character> first_character(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text.front());
    Character character{.code = lead, .bytes = length_by(lead)};
    if (character.bytes == 1) return character;
    if (lead < 0xc0 || lead > 0xf7 || text.size() < character.bytes) return std::nullopt;
    character.code &= 0x7fU >> character.bytes;
    for (const char next : text.substr(1, character.bytes - 1)) {
        const auto byte = static_cast<unsigned char>(next);
        if ((byte & 0xc0U) != 0x80U) return std::nullopt;
        character.code = (character.code << 6U) | (byte & 0x3fU);
    }
    return is_well_formed(character) ? std::optional(character) : std::nullopt;
}

std::string printable(std::string_view text) {
    std::string shown;
    shown.reserve(text.size());
    while (!text.empty()) {
        const auto character = first_character(text);
        const std::string_view bytes = text.substr(0, character ? character->bytes : 1);
        if (!character || is_control(character->code)) {
            append_escaped(shown, bytes);
        } else {
            shown += bytes == "\\" ? "\\\\" : bytes;
        }
        text.remove_prefix(bytes.size());
    }
    return shown;
}

bool is_printable(std::string_view text) { return printable(text) == text; }

std::string bounded_utf8(std::string_view text, std::size_t max_bytes) {
    constexpr std::string_view kReplacement = "\xef\xbf\xbd";
    std::string bounded;
    while (!text.empty()) {
        const auto character = first_character(text);
        const std::string_view bytes = character ? text.substr(0, character->bytes) : kReplacement;
        if (bounded.size() + bytes.size() > max_bytes) break;
        bounded += bytes;
        text.remove_prefix(character ? character->bytes : 1);
    }
    return bounded;
}

}  // namespace kubexm
