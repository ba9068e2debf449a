#pragma once

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kubexm::cli {

// Documents of api/openapi.yaml. A missing member or one of another type is empty.

const nlohmann::json& member(const nlohmann::json& object, const char* name);
/// Control characters are escaped.
std::string word(const nlohmann::json& object, const char* name);
double number(const nlohmann::json& object, const char* name);

/// "a: b: c" without empty parts.
std::string joined(std::initializer_list<std::string> parts);

}  // namespace kubexm::cli
