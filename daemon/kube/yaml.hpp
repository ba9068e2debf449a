#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "daemon/base/error.hpp"

namespace kubexm::kube {

/// A YAML document of texts, lists and mappings as JSON: every scalar is a string, a missing one is
/// null. invalid: too large, too deep or too many values, anchors, aliases, a second document, a
/// key that is there twice; the message names the line and never quotes the text, which may hold a
/// secret.
Result<nlohmann::json> json_from_yaml(std::string_view text);

}  // namespace kubexm::kube
