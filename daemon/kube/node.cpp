#include "daemon/kube/node.hpp"

#include <fmt/format.h>

#include "daemon/kube/fields.hpp"
#include "daemon/model/step_names.hpp"

namespace kubexm::kube {

namespace {

using nlohmann::json;

void read_ready(const json& object, model::NodeRecord& node) {
    const json& conditions = at(object, {"status", "conditions"});
    if (!conditions.is_array()) return;
    for (const json& condition : conditions) {
        if (text_at(condition, {"type"}) != "Ready") continue;
        node.ready = from_name<model::ConditionStatus>(text_at(condition, {"status"}))
                         .value_or(model::ConditionStatus::unknown);
        node.ready_message = text_at(condition, {"message"});
    }
}

std::vector<model::Pair> labels_of(const json& object) {
    std::vector<model::Pair> labels;
    const json& map = at(object, {"metadata", "labels"});
    if (!map.is_object()) return labels;
    for (const auto& [key, value] : map.items()) {
        if (value.is_string()) labels.push_back({key, value.get<std::string>()});
    }
    return labels;
}

std::vector<model::Taint> taints_of(const json& object) {
    std::vector<model::Taint> taints;
    const json& list = at(object, {"spec", "taints"});
    if (!list.is_array()) return taints;
    for (const json& item : list) {
        const auto effect = from_name<model::TaintEffect>(text_at(item, {"effect"}));
        if (!effect) continue;
        taints.push_back({text_at(item, {"key"}), text_at(item, {"value"}), *effect});
    }
    return taints;
}

}  // namespace

std::string node_path(const std::string& name) { return fmt::format("{}/{}", kNodesPath, name); }

model::NodeRecord node_from_json(const json& object) {
    model::NodeRecord node{
        .uid = text_at(object, {"metadata", "uid"}),
        .machine_id = text_at(object, {"status", "nodeInfo", "machineID"}),
        .provider_id = text_at(object, {"spec", "providerID"}),
        .is_cordoned = at(object, {"spec", "unschedulable"}) == json(true),
        .kubelet_version = text_at(object, {"status", "nodeInfo", "kubeletVersion"}),
        .runtime_version = text_at(object, {"status", "nodeInfo", "containerRuntimeVersion"}),
        .ready = model::ConditionStatus::unknown,
        .ready_message = "",
        .labels = labels_of(object),
        .taints = taints_of(object)};
    read_ready(object, node);
    return node;
}

json cordon_patch() { return {{"spec", {{"unschedulable", true}}}}; }

json uncordon_patch() { return {{"spec", {{"unschedulable", nullptr}}}}; }

json left_node_patch(const json& node, const std::string& now) {
    json conditions = json::array({{{"type", "Ready"},
                                    {"status", "False"},
                                    {"reason", "HostReleased"},
                                    {"message", "kubexmd released the host: no kubelet is there"},
                                    {"lastHeartbeatTime", now},
                                    {"lastTransitionTime", now}}});
    const json& others = at(node, {"status", "conditions"});
    for (const json& other : others.is_array() ? others : json::array()) {
        if (text_at(other, {"type"}) != "Ready") conditions.push_back(other);
    }
    return {{"metadata", {{"resourceVersion", text_at(node, {"metadata", "resourceVersion"})}}},
            {"status", {{"conditions", std::move(conditions)}}}};
}

json only_this_node(const model::NodeRecord& node) {
    return {
        {"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", {{"uid", node.uid}}}};
}

}  // namespace kubexm::kube
