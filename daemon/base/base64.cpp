#include "daemon/base/base64.hpp"

#include <cstdint>

namespace kubexm {

namespace {

constexpr std::string_view kStandard =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrl =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encode(std::string_view bytes, std::string_view digits) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    std::uint32_t pending = 0;
    unsigned bits = 0;
    for (const char byte : bytes) {
        pending = (pending << 8U) | static_cast<unsigned char>(byte);
        for (bits += 8; bits >= 6; bits -= 6) text += digits[(pending >> (bits - 6)) & 0x3fU];
    }
    if (bits > 0) text += digits[(pending << (6 - bits)) & 0x3fU];
    return text;
}

std::size_t padding_of(std::string_view text) {
    if (text.ends_with("==")) return 2;
    return text.ends_with('=') ? 1 : 0;
}

}  // namespace

std::string base64(std::string_view bytes) {
    std::string text = encode(bytes, kStandard);
    text.append((4 - text.size() % 4) % 4, '=');
    return text;
}

std::string base64url(std::string_view bytes) { return encode(bytes, kUrl); }

Result<std::string> from_base64(std::string_view text) {
    const auto not_base64 = [] { return fail(Code::invalid, "expected base64 on one line"); };
    if (text.size() % 4 != 0) return not_base64();
    text.remove_suffix(padding_of(text));
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3 + 3);  // growing would leave copies of a secret
    std::uint32_t pending = 0;
    unsigned bits = 0;
    for (const char digit : text) {
        const std::size_t value = kStandard.find(digit);
        if (value == std::string_view::npos) return not_base64();
        pending = (pending << 6U) | static_cast<std::uint32_t>(value);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes += static_cast<char>((pending >> bits) & 0xffU);
    }
    if ((pending & ((1U << bits) - 1)) != 0) return not_base64();
    return bytes;
}

}  // namespace kubexm
