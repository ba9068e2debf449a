#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

// Access to JSON of an API server: any member may be missing or of another type. Private to the
// module.

namespace kubexm::kube {

/// The value at a path of member names; null if there is none.
const nlohmann::json& at(const nlohmann::json& object, std::initializer_list<const char*> path);

/// The text at a path; empty if there is none.
std::string text_at(const nlohmann::json& object, std::initializer_list<const char*> path);

/// Whether the map at a path has the key.
bool has_key(const nlohmann::json& object, std::initializer_list<const char*> path,
             const char* key);

/// Overwrites every text, for a value that contained a secret.
void wipe_texts(nlohmann::json& value);

}  // namespace kubexm::kube
