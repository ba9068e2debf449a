#pragma once

#include <string>
#include <string_view>

#include "api/routes/routes.hpp"

namespace kubexm::api {

inline constexpr std::string_view kJson = "application/json";

Response plain(std::string_view content_type, std::string_view body,
               std::string_view cache_control = "no-store");
Response problem(int status, const std::string& title, const std::string& detail);
/// 405; `allowed` as in the Allow header.
Response wrong_method(std::string_view allowed, const std::string& detail);

/// POST /v1/operations.
Routed operation(const ClientRequest& request);

}  // namespace kubexm::api
