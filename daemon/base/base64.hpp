#pragma once

#include <string>
#include <string_view>

#include "daemon/base/error.hpp"

namespace kubexm {

/// RFC 4648, section 4.
std::string base64(std::string_view bytes);
/// RFC 4648, section 5, without padding.
std::string base64url(std::string_view bytes);

/// Reads only the form that base64() writes: no line breaks, full padding, no discarded bits.
/// invalid: never quotes the text, which may hold a secret.
Result<std::string> from_base64(std::string_view text);

}  // namespace kubexm
