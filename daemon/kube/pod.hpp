#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kubexm::kube {

/// The facts about a pod that a release needs.
struct PodRecord {
    std::string namespace_;
    std::string name;
    std::string uid;
    bool is_deleted = false;   // and ending
    bool is_evictable = true;  // another node can run it: not of a DaemonSet, not static

    bool operator==(const PodRecord&) const = default;
};

/// The pods of a node, for a GET, in pages: all at once can be more than we read. A node's own
/// credentials may list no others. `page` is empty, or next_page() of the last answer.
std::string pods_path(const std::string& node, const std::string& page);
/// Empty: it was the last one.
std::string next_page(const nlohmann::json& list);
std::string pod_path(const PodRecord& pod);
std::string eviction_path(const PodRecord& pod);

/// Those that have not finished. Items that are no pods are passed over.
std::vector<PodRecord> running_pods(const nlohmann::json& list);

/// The body of an eviction, and options of a DELETE; both spare a newer pod of the same name.
nlohmann::json eviction_of(const PodRecord& pod);
nlohmann::json only_this_pod(const PodRecord& pod);

}  // namespace kubexm::kube
