#pragma once

#include <map>
#include <string>
#include <vector>

namespace kubexm::model {

/// Root's allow-lists: everything else is refused, for every caller.
struct AllowList {
    /// By step type ("data-file", "deleted-tree", ...): directories for paths, or files.
    std::map<std::string, std::vector<std::string>> directories;
    std::vector<std::string> units;
    std::vector<std::string> sysctls;  // a key, or a prefix ending in ".*"
    std::vector<std::string> modules;
    std::vector<std::string> links;  // network links that undo may remove
    std::vector<std::string> executables;
    std::vector<std::string> components;
    std::map<std::string, std::string> digests;  // "kubelet/v1.34.1/kubelet" to its SHA-256

    bool operator==(const AllowList&) const = default;
};

}  // namespace kubexm::model
