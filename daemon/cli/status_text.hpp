#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kubexm::cli {

// Documents of api/openapi.yaml as a person reads them. A member that is missing or is something
// else is shown as nothing; whatever text is in them, none of it is obeyed by a terminal.

std::string status_text(const nlohmann::json& status);
std::string plan_text(const nlohmann::json& plan);

}  // namespace kubexm::cli
