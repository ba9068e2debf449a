#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "daemon/base/error.hpp"

namespace kubexm::kube {

/// A YAML document as JSON: every scalar is a string, a missing one is null. invalid: see
/// yaml::parse(); the message names the line and never quotes the text, which may hold a secret.
Result<nlohmann::json> json_from_yaml(std::string_view text);

}  // namespace kubexm::kube
