#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/base/error.hpp"

// Bytes between descriptors, which may be secrets: no copy of them stays in memory. Private to this
// module. `name` is for messages.

namespace kubexm::executor::journal {

Result<> write_content(int fd, std::string_view bytes, std::string_view name);

/// Copies the rest of one descriptor to another and returns the SHA-256 of what went through.
/// invalid: more than `limit` bytes.
Result<std::string> copy_rest(int source, int target, std::uint64_t limit, std::string_view name);

/// The SHA-256 of the rest of a descriptor.
Result<std::string> digest_of_rest(int fd, std::string_view name);

/// invalid: anything else, which could make a reader wait for ever.
Result<> only_regular(int fd, std::string_view name);

}  // namespace kubexm::executor::journal
