#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace kubexm::executor::journal {

inline constexpr std::size_t kMaxText = 4096;

/// A text that comes from outside, short enough to be kept; never cut within a character.
inline std::string clipped(std::string_view text) {
    if (text.size() <= kMaxText) return std::string(text);
    std::size_t size = kMaxText;
    const auto continues = [&](char byte) {
        return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U;
    };
    while (size > 0 && continues(text[size])) --size;
    return std::string(text.substr(0, size));
}

/// Seconds since 1970.
inline std::int64_t now() {
    const auto time = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

}  // namespace kubexm::executor::journal
