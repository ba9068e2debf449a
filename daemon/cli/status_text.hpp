#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kubexm::cli {

// Documents of api/openapi.yaml as text. A missing member or one of another type is shown as empty;
// control characters are escaped.

std::string status_text(const nlohmann::json& status);
std::string plan_text(const nlohmann::json& plan);
std::string certificates_text(const nlohmann::json& certificates);

}  // namespace kubexm::cli
