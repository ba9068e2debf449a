#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/base/error.hpp"

// Copies bytes between descriptors. The bytes may be secret: buffers are wiped. Private to this
// module. `name` is for messages.

namespace kubexm::executor::journal {

Result<> write_content(int fd, std::string_view bytes, std::string_view name);

/// Copies the rest of one descriptor to another and returns its SHA-256.
/// invalid: more than `limit` bytes.
Result<std::string> copy_rest(int source, int target, std::uint64_t limit, std::string_view name);

/// The SHA-256 of the rest of a descriptor.
Result<std::string> digest_of_rest(int fd, std::string_view name);

/// invalid: not a regular file; reading it could block for ever.
Result<> check_regular(int fd, std::string_view name);

}  // namespace kubexm::executor::journal
