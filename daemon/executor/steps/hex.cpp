#include "daemon/executor/steps/hex.hpp"

#include <fmt/format.h>

#include <charconv>
#include <iterator>

namespace kubexm::executor {

std::string to_hex(std::string_view bytes) {
    std::string hex;
    hex.reserve(2 * bytes.size());
    for (const char byte : bytes) {
        fmt::format_to(std::back_inserter(hex), "{:02x}", static_cast<unsigned char>(byte));
    }
    return hex;
}

Result<std::string> from_hex(std::string_view hex) {
    const bool written_by_us = hex.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    if (!written_by_us || hex.size() % 2 != 0) {
        return fail(Code::corrupt, "bytes in the ledger are not hexadecimal");
    }
    std::string bytes;
    bytes.reserve(hex.size() / 2);
    for (std::size_t i = 0; i < hex.size(); i += 2) {
        unsigned value = 0;
        std::from_chars(hex.data() + i, hex.data() + i + 2, value, 16);
        bytes += static_cast<char>(value);
    }
    return bytes;
}

}  // namespace kubexm::executor
