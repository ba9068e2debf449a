#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "daemon/base/error.hpp"

namespace kubexm::cli {

// The API of kubexmd over its unix sockets. unavailable: nothing listens. timeout: no valid answer,
// or status 503. denied: no permission for the socket, or status 403. not_found: 404. conflict:
// 409.

/// GET, on any of the sockets.
Result<nlohmann::json> ask_api(const std::string& socket, const std::string& path);

/// POST, on the control socket. systemd listens there while kubexmd restarts: the request waits.
/// After a timeout it may still take effect.
Result<nlohmann::json> post_api(const std::string& socket, const std::string& path,
                                const std::string& body, std::chrono::seconds patience);

}  // namespace kubexm::cli
