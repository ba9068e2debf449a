#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "daemon/base/error.hpp"

namespace kubexm::cli {

/// What kubexmd answers at a path of its API, over its unix socket. unavailable: it does not run.
/// denied: this user may not ask it. not_found: it says why.
Result<nlohmann::json> ask_api(const std::string& socket, const std::string& path);

}  // namespace kubexm::cli
