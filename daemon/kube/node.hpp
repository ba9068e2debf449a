#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "daemon/model/host.hpp"

namespace kubexm::kube {

inline constexpr const char* kNodesPath = "/api/v1/nodes";
std::string node_path(const std::string& name);

model::NodeRecord node_from_json(const nlohmann::json& object);

/// Options of a DELETE that spare a newer Node of the same name.
nlohmann::json only_this_node(const model::NodeRecord& node);

/// Keeps new pods away from a Node, and lets it take them again.
nlohmann::json cordon_patch();
nlohmann::json uncordon_patch();

/// Sets the Node of a released host to not Ready; the node controller would take its grace period.
nlohmann::json left_node_patch(const nlohmann::json& node, const std::string& now);

}  // namespace kubexm::kube
