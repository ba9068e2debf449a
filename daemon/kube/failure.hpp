#pragma once

#include <chrono>
#include <string_view>

#include "daemon/kube/api.hpp"

namespace kubexm::kube {

/// The failure of a response with an error status. `request` is for the message; `body` should be a
/// Status object but may be anything.
Failure failure_of(std::string_view request, int status, std::string_view body,
                   std::chrono::seconds retry_after);

/// The same for a Status object in an event of a watch.
Failure failure_of(std::string_view request, const nlohmann::json& status);

Result<nlohmann::json> parse_response(std::string_view body);

}  // namespace kubexm::kube
