#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kubexm {

/// Two lower-case digits per byte.
std::string to_hex(std::string_view bytes);

/// Nothing if the text is not in the form of to_hex().
std::optional<std::string> from_hex(std::string_view hex);

/// A SHA-256 as sha256() writes it: 64 lower-case hexadecimal digits.
bool is_sha256(std::string_view text);

}  // namespace kubexm
