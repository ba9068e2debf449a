#include "daemon/model/step.hpp"

#include <fmt/format.h>

#include "daemon/base/overloaded.hpp"
#include "daemon/model/names.hpp"

namespace kubexm::model {

namespace {

/// "enable and start kubelet.service"
std::string unit_text(const UnitState& unit) {
    std::vector<std::string_view> verbs;
    if (unit.masked) verbs.push_back(*unit.masked ? "mask" : "unmask");
    if (unit.enabled) verbs.push_back(*unit.enabled ? "enable" : "disable");
    if (unit.active) verbs.push_back(*unit.active ? "start" : "stop");
    if (verbs.empty()) verbs.push_back("leave");
    return fmt::format("{} {}", fmt::join(verbs, " and "), unit.name);
}

std::vector<std::string> unit_effects(const UnitState& unit) {
    const bool runs_containers = unit.name == "containerd.service";
    if (runs_containers && (unit.active == false || !unit.restart_key.empty())) {
        return {"interrupts the container runtime; running containers go on"};
    }
    if (unit.active == false) return {fmt::format("stops {}", unit.name)};
    return {};
}

}  // namespace

std::string path_of(const Document& document) {
    return std::visit(
        overloaded{
            [](const KubeletService&) -> std::string {
                return "/etc/systemd/system/kubelet.service";
            },
            [](const KubeletConfiguration&) -> std::string {
                return "/var/lib/kubelet/config.yaml";
            },
            [](const Kubeconfig& file) -> std::string {
                return file.user == KubeconfigUser::kubelet ? "/etc/kubernetes/kubelet.conf"
                                                            : "/etc/kubernetes/kube-proxy.conf";
            },
            [](const ContainerdConfiguration&) -> std::string {
                return "/etc/containerd/config.toml";
            },
            [](const ProxyDropIn& file) -> std::string {
                return file.service == ManagedService::kubelet
                           ? "/etc/systemd/system/kubelet.service.d/10-kubexm-proxy.conf"
                           : "/etc/systemd/system/containerd.service.d/10-kubexm-proxy.conf";
            },
            [](const SysctlFile&) -> std::string { return "/etc/sysctl.d/99-kubexm.conf"; },
            [](const ModulesFile&) -> std::string { return "/etc/modules-load.d/kubexm.conf"; },
        },
        document);
}

std::string_view type_of(const Step& step) {
    return std::visit([](const auto& value) { return value.kType; }, step);
}

std::string target_of(const Step& step) {
    return std::visit(overloaded{
                          [](const RenderedFile& s) { return path_of(s.document); },
                          [](const DataFile& s) { return s.path; },
                          [](const SecretFile& s) { return s.path; },
                          [](const Directory& s) { return s.path; },
                          [](const Symlink& s) { return s.path; },
                          [](const ManagedBlock& s) { return s.path + "#" + s.name; },
                          [](const AbsentPath& s) { return s.path; },
                          [](const DeletedTree& s) { return s.path; },
                          [](const Sysctl& s) { return s.key; },
                          [](const KernelModule& s) { return s.name; },
                          [](const SwapOff&) { return std::string("swap"); },
                          [](const Unmounted& s) { return s.below; },
                          [](const UnitState& s) { return s.name; },
                          [](const DaemonReload&) { return std::string("systemd"); },
                          [](const ComponentVersion& s) { return s.component; },
                          [](const TransientUnit& s) { return s.name; },
                          [](const Claim& s) { return s.path; },
                          [](const SideEffects& s) { return std::string(name_of(s.kind)); },
                      },
                      step);
}

std::vector<std::string> contents_of(const Step& step) {
    using Digests = std::vector<std::string>;
    return std::visit(overloaded{
                          [](const DataFile& s) { return Digests{s.digest}; },
                          [](const SecretFile& s) { return Digests{s.digest}; },
                          [](const ComponentVersion& s) {
                              Digests digests;
                              for (const ComponentFile& file : s.files) {
                                  digests.push_back(file.digest);
                              }
                              return digests;
                          },
                          [](const auto&) { return Digests{}; },
                      },
                      step);
}

std::string text_of(const Step& step) {
    return std::visit(
        overloaded{
            [](const RenderedFile& s) { return "write " + path_of(s.document); },
            [](const DataFile& s) { return "write " + s.path; },
            [](const SecretFile& s) { return "write secret " + s.path; },
            [](const Directory& s) {
                return fmt::format("make directory {} ({:04o})", s.path, s.access.mode.bits);
            },
            [](const Symlink& s) { return fmt::format("link {} to {}", s.path, s.target); },
            [](const ManagedBlock& s) {
                return fmt::format("write our lines \"{}\" into {}", s.name, s.path);
            },
            [](const AbsentPath& s) { return "remove " + s.path; },
            [](const DeletedTree& s) { return "delete everything below " + s.path; },
            [](const Sysctl& s) { return fmt::format("set {} to {}", s.key, s.value); },
            [](const KernelModule& s) { return "load kernel module " + s.name; },
            [](const SwapOff&) { return std::string("turn swap off"); },
            [](const Unmounted& s) { return "unmount everything below " + s.below; },
            [](const UnitState& s) { return unit_text(s); },
            [](const DaemonReload&) { return std::string("let systemd read its units again"); },
            [](const ComponentVersion& s) {
                return fmt::format("put {} {} into use", s.component, s.version);
            },
            [](const TransientUnit& s) {
                return fmt::format("run {} as {}", fmt::join(s.argv, " "), s.name);
            },
            [](const Claim& s) { return "take note that " + s.path + " will be ours"; },
            [](const SideEffects& s) {
                return fmt::format("take note that new {} will be ours", name_of(s.kind));
            },
        },
        step);
}

std::vector<std::string> effects_of(const Step& step) {
    using Effects = std::vector<std::string>;
    return std::visit(
        overloaded{
            [](const UnitState& s) { return unit_effects(s); },
            [](const DeletedTree& s) { return Effects{"deletes data below " + s.path}; },
            [](const SwapOff&) { return Effects{"needs memory for what was swapped out"}; },
            [](const TransientUnit& s) { return Effects{"runs " + s.name}; },
            [](const auto&) { return Effects{}; },
        },
        step);
}

}  // namespace kubexm::model
