#pragma once

#include <map>
#include <string>
#include <vector>

namespace kubexm::model {

/// Root's allow-lists for the executor; everything else is refused.
struct AllowList {
    /// By step type ("data-file", "deleted-tree", ...): permitted paths, with everything below.
    std::map<std::string, std::vector<std::string>> directories;
    std::vector<std::string> units;
    std::vector<std::string> sysctls;  // a key, or a prefix ending in ".*"
    std::vector<std::string> modules;
    std::vector<std::string> links;  // network links that the node's software creates
    std::vector<std::string> executables;
    std::vector<std::string> components;
    std::map<std::string, std::string> digests;  // "kubelet/v1.34.1/kubelet" to its SHA-256

    bool operator==(const AllowList&) const = default;
};

}  // namespace kubexm::model
