#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"

// Private to the module: as much of the protobuf wire format as a few requests of the container
// runtime need.

namespace kubexm::executor::protobuf {

/// A member of a message that is a text or a message.
std::string member(std::uint32_t number, std::string_view value);

/// A member that is a truth value, and true.
std::string flag(std::uint32_t number);

/// The values of a member, in their order. They point into the message. invalid: not a message, or
/// the member is a number.
Result<std::vector<std::string_view>> members(std::string_view message, std::uint32_t number);

/// Its last value, as protobuf wants; empty where there is none.
Result<std::string_view> last_member(std::string_view message, std::uint32_t number);

}  // namespace kubexm::executor::protobuf
