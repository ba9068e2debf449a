#include "daemon/base/hex.hpp"

#include <charconv>

namespace kubexm {

namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

bool is_hex(std::string_view text) {
    return text.find_first_not_of(kDigits) == std::string_view::npos;
}

}  // namespace

std::string to_hex(std::string_view bytes) {
    std::string hex;
    hex.reserve(2 * bytes.size());
    for (const char byte : bytes) {
        hex += kDigits[static_cast<unsigned char>(byte) >> 4U];
        hex += kDigits[static_cast<unsigned char>(byte) & 0xfU];
    }
    return hex;
}

std::optional<std::string> from_hex(std::string_view hex) {
    if (!is_hex(hex) || hex.size() % 2 != 0) return std::nullopt;
    std::string bytes;
    bytes.reserve(hex.size() / 2);
    for (; !hex.empty(); hex.remove_prefix(2)) {
        unsigned value = 0;
        std::from_chars(hex.begin(), hex.begin() + 2, value, 16);
        bytes += static_cast<char>(value);
    }
    return bytes;
}

bool is_sha256(std::string_view text) {
    constexpr std::size_t kSha256Digits = 64;
    return text.size() == kSha256Digits && is_hex(text);
}

}  // namespace kubexm
