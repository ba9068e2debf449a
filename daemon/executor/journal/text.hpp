#pragma once

#include <string>
#include <string_view>

namespace kubexm::executor::journal {

inline constexpr std::size_t kMaxText = 4096;

/// The first kMaxText bytes of a text at most, never cut within a UTF-8 character.
inline std::string clipped(std::string_view text) {
    if (text.size() <= kMaxText) return std::string(text);
    std::size_t size = kMaxText;
    const auto continues = [&](char byte) {
        return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U;
    };
    while (size > 0 && continues(text[size])) --size;
    return std::string(text.substr(0, size));
}

}  // namespace kubexm::executor::journal
