#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

// Reading what an API server sent: nothing is expected to be there, or to be of its type. Private
// to the module.

namespace kubexm::kube {

/// The value at a path of member names; null where there is none.
const nlohmann::json& at(const nlohmann::json& object, std::initializer_list<const char*> path);

/// The text at a path, empty where there is none.
std::string text_at(const nlohmann::json& object, std::initializer_list<const char*> path);

/// Whether a map of texts has a key that may hold dots and slashes: labels, annotations.
bool has_key(const nlohmann::json& object, std::initializer_list<const char*> path,
             const char* key);

/// Overwrites every text of a value that held a secret.
void wipe_texts(nlohmann::json& value);

}  // namespace kubexm::kube
