#include "daemon/base/digest.hpp"

#include <openssl/sha.h>

#include <array>

namespace kubexm {

std::string sha256(std::string_view bytes) {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> hash{};
    SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), hash.data());
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(2 * hash.size());
    for (unsigned char byte : hash) {
        text += digits[byte >> 4U];
        text += digits[byte & 0xfU];
    }
    return text;
}

}  // namespace kubexm
