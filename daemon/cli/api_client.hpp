#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "daemon/base/error.hpp"

namespace kubexm::cli {

/// The answer of kubexmd's API over its unix socket. unavailable: kubexmd does not run. denied: no
/// permission for the socket. not_found: status 404.
Result<nlohmann::json> ask_api(const std::string& socket, const std::string& path);

}  // namespace kubexm::cli
