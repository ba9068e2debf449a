#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "daemon/model/step.hpp"

namespace kubexm::model {

/// The words for the types of a variant, such as Step.
template <typename... Types>
std::vector<std::string> all_types(const std::variant<Types...>*) {
    return {std::string(Types::kType)...};
}

/// Root's allow-lists for the executor; everything else is refused.
struct AllowList {
    /// Types of steps and of rendered files.
    std::vector<std::string> steps = all_types(static_cast<const Step*>(nullptr));
    std::vector<std::string> documents = all_types(static_cast<const Document*>(nullptr));
    std::vector<std::string> clusters{"*"};    // "HOST:PORT" of API servers; "*": any
    std::vector<std::string> registries{"*"};  // "HOST" or "HOST:PORT" of images; "*": any
    /// By step type ("data-file", "deleted-tree", ...): permitted paths, with everything below.
    std::map<std::string, std::vector<std::string>> directories;
    std::vector<std::string> units;
    std::vector<std::string> sysctls;  // a key, or a prefix ending in ".*"
    std::vector<std::string> modules;
    std::vector<std::string> links;  // network links that the node's software creates
    std::vector<std::string> executables;
    std::vector<std::string> components;
    std::vector<std::string> ignored_checks;     // of the preflight: words of CheckId
    std::map<std::string, std::string> digests;  // "kubelet/v1.34.1/kubelet" to its SHA-256

    bool operator==(const AllowList&) const = default;
};

}  // namespace kubexm::model
