#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"

// Private to the module: the part of the protobuf wire format that our calls of containerd need.

namespace kubexm::executor::protobuf {

/// A field of a string or message.
std::string field(std::uint32_t number, std::string_view value);

/// A field of a number, an enum, or a bool.
std::string number_field(std::uint32_t number, std::uint64_t value);

/// The values of a field of strings or messages, in order. They point into the message. invalid:
/// not a message, or the field is a number.
Result<std::vector<std::string_view>> fields(std::string_view message, std::uint32_t number);

/// The last value, which is the one that counts; empty: none.
Result<std::string_view> last_field(std::string_view message, std::uint32_t number);

}  // namespace kubexm::executor::protobuf
