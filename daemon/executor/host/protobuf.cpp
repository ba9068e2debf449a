#include "daemon/executor/host/protobuf.hpp"

#include <fmt/format.h>

#include <optional>

#include "daemon/base/try.hpp"

// https://protobuf.dev/programming-guides/encoding

namespace kubexm::executor::protobuf {

namespace {

constexpr std::uint64_t kNumber = 0, kEightBytes = 1, kBytes = 2, kFourBytes = 5;
constexpr std::uint64_t kMaxField = (std::uint64_t{1} << 29U) - 1;

std::string varint(std::uint64_t value) {
    std::string bytes;
    for (; value > 0x7f; value >>= 7U) bytes += static_cast<char>((value & 0x7fU) | 0x80U);
    return bytes += static_cast<char>(value);
}

/// Takes a number of at most 64 bits from the front of the message.
std::optional<std::uint64_t> take_varint(std::string_view& message) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !message.empty(); shift += 7) {
        const auto byte = static_cast<unsigned char>(message.front());
        message.remove_prefix(1);
        if (shift == 63 && byte > 1) return {};
        value |= std::uint64_t{byte & 0x7fU} << shift;
        if ((byte & 0x80U) == 0) return value;
    }
    return {};
}

std::optional<std::string_view> take(std::string_view& message, std::uint64_t size) {
    if (size > message.size()) return {};
    const std::string_view taken = message.substr(0, size);
    message.remove_prefix(size);
    return taken;
}

/// Takes a value of a wire type; empty for a varint.
std::optional<std::string_view> take_value(std::string_view& message, std::uint64_t type) {
    if (type == kEightBytes) return take(message, 8);
    if (type == kFourBytes) return take(message, 4);
    if (type != kNumber && type != kBytes) return {};  // groups are obsolete
    const auto number = take_varint(message);
    if (!number) return {};
    return type == kBytes ? take(message, *number) : std::string_view();
}

}  // namespace

std::string number_field(std::uint32_t number, std::uint64_t value) {
    return varint((std::uint64_t{number} << 3U) | kNumber) + varint(value);
}

std::string field(std::uint32_t number, std::string_view value) {
    const std::uint64_t tag = (std::uint64_t{number} << 3U) | kBytes;
    return varint(tag) + varint(value.size()) + std::string(value);
}

Result<std::vector<std::string_view>> fields(std::string_view message, std::uint32_t number) {
    const std::size_t size = message.size();
    std::vector<std::string_view> values;
    while (!message.empty()) {
        const std::size_t place = size - message.size();
        const auto tag = take_varint(message);
        const std::uint64_t found = tag.value_or(0) >> 3U;
        const std::uint64_t type = tag.value_or(0) & 7U;
        const bool known = found >= 1 && found <= kMaxField;
        const auto value = known ? take_value(message, type) : std::nullopt;
        if (!value || (found == number && type != kBytes)) {
            return fail(Code::invalid,
                        fmt::format("protobuf message: invalid at byte {} of {}", place, size));
        }
        if (found == number) values.push_back(*value);
    }
    return values;
}

Result<std::string_view> last_field(std::string_view message, std::uint32_t number) {
    const auto values = TRY(fields(message, number));
    return values.empty() ? std::string_view() : values.back();
}

}  // namespace kubexm::executor::protobuf
