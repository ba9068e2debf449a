#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "daemon/base/error.hpp"

namespace kubexm {

struct JsonLimits {
    std::size_t max_bytes = std::size_t{64} * 1024;
    std::size_t max_depth = 10;
    std::size_t max_values = 2000;  // objects, lists, members and elements together
};

/// Parses text of unknown origin. invalid: not JSON, a duplicate member, or a limit exceeded; the
/// message names the place or the limit and never quotes the text, which may hold a secret.
Result<nlohmann::json> parse_json(std::string_view text, const JsonLimits& limits);

}  // namespace kubexm
