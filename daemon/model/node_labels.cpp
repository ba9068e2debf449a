#include "daemon/model/node_labels.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace kubexm::model {

namespace {

/// As in kubelet's pkg/apis/well_known_labels.go, the same from 1.29 to 1.36.
constexpr std::array<std::string_view, 11> kKubeletLabels{
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
};

}  // namespace

bool may_kubelet_set_label(std::string_view key) {
    const std::size_t slash = key.find('/');
    if (slash == std::string_view::npos) return true;
    const std::string domain = "." + std::string(key.substr(0, slash));
    if (!domain.ends_with(".kubernetes.io") && !domain.ends_with(".k8s.io")) return true;
    return domain.ends_with(".kubelet.kubernetes.io") || domain.ends_with(".node.kubernetes.io") ||
           std::ranges::find(kKubeletLabels, key) != kKubeletLabels.end();
}

std::vector<Pair> labels_for_kubelet(std::vector<Pair> labels) {
    std::erase_if(labels, [](const Pair& label) { return !may_kubelet_set_label(label.key); });
    return labels;
}

std::vector<Pair> labels_of_others(std::vector<Pair> labels) {
    std::erase_if(labels, [](const Pair& label) { return may_kubelet_set_label(label.key); });
    return labels;
}

}  // namespace kubexm::model
