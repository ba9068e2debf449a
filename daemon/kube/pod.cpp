#include "daemon/kube/pod.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/grammar.hpp"
#include "daemon/kube/fields.hpp"
#include "daemon/kube/query.hpp"

namespace kubexm::kube {

namespace {

using nlohmann::json;

bool is_of_daemon_set(const json& pod) {
    const json& owners = at(pod, {"metadata", "ownerReferences"});
    return owners.is_array() && std::ranges::any_of(owners, [](const json& owner) {
               return text_at(owner, {"kind"}) == "DaemonSet";
           });
}

/// kubelet shows a pod of its own manifests in this way.
bool is_static(const json& pod) {
    return !text_at(pod, {"metadata", "annotations", "kubernetes.io/config.mirror"}).empty();
}

PodRecord pod_from_json(const json& pod) {
    return {.namespace_ = text_at(pod, {"metadata", "namespace"}),
            .name = text_at(pod, {"metadata", "name"}),
            .uid = text_at(pod, {"metadata", "uid"}),
            .is_deleted = !text_at(pod, {"metadata", "deletionTimestamp"}).empty(),
            .is_evictable = !is_of_daemon_set(pod) && !is_static(pod)};
}

/// The names become part of a path.
bool is_plausible(const PodRecord& pod) {
    return is_dns_label(pod.namespace_) && is_dns_name(pod.name);
}

}  // namespace

std::string pods_path(const std::string& node, const std::string& page) {
    constexpr int kPods = 30;
    return fmt::format("/api/v1/pods?fieldSelector=spec.nodeName%3D{}&limit={}{}{}", node, kPods,
                       page.empty() ? "" : "&continue=", escaped(page));
}

std::string next_page(const json& list) { return text_at(list, {"metadata", "continue"}); }

std::string pod_path(const PodRecord& pod) {
    return fmt::format("/api/v1/namespaces/{}/pods/{}", pod.namespace_, pod.name);
}

std::string eviction_path(const PodRecord& pod) { return pod_path(pod) + "/eviction"; }

std::vector<PodRecord> running_pods(const json& list) {
    std::vector<PodRecord> pods;
    const json& items = at(list, {"items"});
    if (!items.is_array()) return pods;
    for (const json& item : items) {
        const std::string phase = text_at(item, {"status", "phase"});
        const PodRecord pod = pod_from_json(item);
        if (phase != "Succeeded" && phase != "Failed" && is_plausible(pod)) pods.push_back(pod);
    }
    return pods;
}

json only_this_pod(const PodRecord& pod) {
    return {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", {{"uid", pod.uid}}}};
}

json eviction_of(const PodRecord& pod) {
    return {{"apiVersion", "policy/v1"},
            {"kind", "Eviction"},
            {"metadata", {{"name", pod.name}, {"namespace", pod.namespace_}}},
            {"deleteOptions", {{"preconditions", {{"uid", pod.uid}}}}}};
}

}  // namespace kubexm::kube
