#pragma once

#include <chrono>
#include <string_view>

#include "daemon/kube/api.hpp"

namespace kubexm::kube {

/// What the server said, where it did not say yes. `what` names the request; `body` is expected to
/// be a Status object and may be anything.
Failure refusal(std::string_view what, int status, std::string_view body,
                std::chrono::seconds retry_after);

/// The same for a Status object that came as an event of a watch.
Failure refusal(std::string_view what, const nlohmann::json& status);

/// An answer in one JSON document.
Result<nlohmann::json> parse_answer(std::string_view body);

}  // namespace kubexm::kube
