#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "daemon/base/error.hpp"

namespace kubexm::cli {

// The API of kubexmd over its unix sockets. unavailable: kubexmd does not answer. denied: no
// permission for the socket, or status 403. not_found: 404. conflict: 409. timeout: 503.

/// GET, on any of the sockets.
Result<nlohmann::json> ask_api(const std::string& socket, const std::string& path);

/// POST, on the control socket.
Result<nlohmann::json> post_api(const std::string& socket, const std::string& path,
                                const std::string& body);

}  // namespace kubexm::cli
