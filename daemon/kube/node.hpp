#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "daemon/model/host.hpp"

namespace kubexm::kube {

inline constexpr const char* kNodesPath = "/api/v1/nodes";
std::string node_path(const std::string& name);

model::NodeRecord node_from_json(const nlohmann::json& object);

/// Options of a DELETE that only takes the Node that was seen, not one that came after it.
nlohmann::json only_this_node(const model::NodeRecord& node);

}  // namespace kubexm::kube
