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

/// Says of a Node whose host left it that it is not Ready any more. Nobody else would at once.
nlohmann::json left_node_patch(const nlohmann::json& node, const std::string& now);

}  // namespace kubexm::kube
