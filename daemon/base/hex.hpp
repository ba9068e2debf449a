#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kubexm {

/// Two lower-case digits a byte.
std::string to_hex(std::string_view bytes);

/// Nothing where the text is not what to_hex() writes.
std::optional<std::string> from_hex(std::string_view hex);

/// A SHA-256 as sha256() writes it: 64 lower-case hexadecimal digits.
bool is_sha256(std::string_view text);

}  // namespace kubexm
