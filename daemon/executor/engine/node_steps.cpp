#include "daemon/executor/engine/node_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace kubexm::executor {

namespace {

/// The directories of a node, made by kubexm or by another tool: of kubelet, of the runtime with
/// its units and its tasks, and of the pods.
constexpr std::array<std::string_view, 16> kOfNodes{"/etc/kubernetes",
                                                    "/var/lib/kubelet",
                                                    "/var/lib/kube-proxy",
                                                    "/usr/libexec/kubernetes",
                                                    "/etc/systemd/system/kubelet.service",
                                                    "/etc/systemd/system/kubelet.service.d",
                                                    "/etc/containerd",
                                                    "/var/lib/containerd",
                                                    "/run/containerd",
                                                    "/etc/systemd/system/containerd.service",
                                                    "/etc/systemd/system/containerd.service.d",
                                                    "/etc/cni",
                                                    "/var/lib/cni",
                                                    "/run/netns",
                                                    "/var/log/pods",
                                                    "/var/log/containers"};

/// Of the services that a node cannot do without.
bool is_unit_of_node(const std::string& name) {
    return name == "kubelet.service" || name == "containerd.service";
}

/// Some steps are about everything below their path.
bool is_about_all_below(const model::Step& step) {
    return std::holds_alternative<model::Claim>(step) ||
           std::holds_alternative<model::DeletedTree>(step) ||
           std::holds_alternative<model::Unmounted>(step);
}

}  // namespace

bool makes_kubelet(const model::Step& step) {
    const auto* file = std::get_if<model::RenderedFile>(&step);
    const auto* unit = std::get_if<model::UnitState>(&step);
    return (file != nullptr && std::holds_alternative<model::KubeletService>(file->document)) ||
           (unit != nullptr && unit->name == "kubelet.service" && unit->active == true);
}

bool concerns_node(const model::Step& step) {
    if (const auto* unit = std::get_if<model::UnitState>(&step)) return is_unit_of_node(unit->name);
    // Its undo leaves exactly the objects that it records.
    if (std::holds_alternative<model::SideEffects>(step)) return true;
    const std::string path = model::path_of(step);
    const bool is_deep = is_about_all_below(step);
    return std::ranges::any_of(kOfNodes, [&](std::string_view each) {
        return path == each || path.starts_with(fmt::format("{}/", each)) ||
               (is_deep && each.starts_with(path + "/"));
    });
}

}  // namespace kubexm::executor
