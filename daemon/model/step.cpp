#include "daemon/model/step.hpp"

#include <fmt/format.h>

#include "daemon/base/overloaded.hpp"
#include "daemon/model/step_names.hpp"

namespace kubexm::model {

namespace {

/// "enable and start kubelet.service"
std::string unit_text(const UnitState& unit) {
    std::vector<std::string_view> verbs;
    if (unit.masked) verbs.push_back(*unit.masked ? "mask" : "unmask");
    if (unit.enabled) verbs.push_back(*unit.enabled ? "enable" : "disable");
    if (unit.active) verbs.push_back(*unit.active ? "start" : "stop");
    if (verbs.empty()) verbs.push_back("keep");
    return fmt::format("{} {}", fmt::join(verbs, " and "), unit.name);
}

std::vector<std::string> unit_effects(const UnitState& unit) {
    const bool runs_containers = unit.name == "containerd.service";
    if (runs_containers && (unit.active == false || !unit.restart_key.empty())) {
        return {"interrupts the container runtime; running containers continue"};
    }
    if (unit.active == false) return {fmt::format("stops {}", unit.name)};
    return {};
}

template <typename T>
concept PathStep = OneOf<T, DataFile, SecretFile, Directory, Symlink, ManagedBlock, AbsentPath,
                         DeletedTree, Claim>;
template <typename T>
concept PathlessStep =
    OneOf<T, Sysctl, KernelModule, SwapOff, UnitState, DaemonReload, TransientUnit, SideEffects>;

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
            [](const RegistryHosts& file) -> std::string {
                return fmt::format("/etc/containerd/certs.d/{}/hosts.toml", file.registry);
            },
            [](const CniConfiguration&) -> std::string {
                return "/etc/cni/net.d/10-kubexm.conflist";
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

// Each description: target, object, text, unit, effects, digests.

Description RenderedFile::describe() const {
    const std::string path = path_of(document);
    std::vector<std::string> digests;
    if (written) digests.push_back(written->digest);
    return {path, "file " + path, "write " + path, "", {}, std::move(digests)};
}

Description DataFile::describe() const {
    return {path, "file " + path, "write " + path, "", {}, {digest}};
}

Description SecretFile::describe() const {
    return {path, "secret file " + path, "write secret " + path, "", {}, {digest}};
}

Description Directory::describe() const {
    return {path,
            "directory " + path,
            fmt::format("create directory {} ({:04o})", path, access.mode.bits),
            "",
            {},
            {}};
}

Description Symlink::describe() const {
    return {path, "link " + path, fmt::format("link {} to {}", path, target), "", {}, {}};
}

Description ManagedBlock::describe() const {
    const std::string block = fmt::format("block \"{}\" in {}", name, path);
    return {path + "#" + name, block, "write " + block, "", {}, {}};
}

Description AbsentPath::describe() const {
    return {path, "path " + path, "remove " + path, "", {}, {}};
}

Description DeletedTree::describe() const {
    return {path,
            "directory " + path,
            "delete everything below " + path,
            "",
            {"deletes data below " + path},
            {}};
}

Description Sysctl::describe() const {
    return {key, "kernel parameter " + key, fmt::format("set {} to {}", key, value), "", {}, {}};
}

Description KernelModule::describe() const {
    return {name, "kernel module " + name, "load kernel module " + name, "", {}, {}};
}

Description SwapOff::describe() const {
    return {"swap", "swap", "turn swap off", "", {"needs memory for the swapped-out pages"}, {}};
}

Description Unmounted::describe() const {
    return {below, "mounts below " + below, "unmount everything below " + below, "", {}, {}};
}

Description UnitState::describe() const {
    return {name, "unit " + name, unit_text(*this), name, unit_effects(*this), {}};
}

Description DaemonReload::describe() const {
    return {"systemd", "unit files of systemd", "reload systemd unit files", "", {}, {}};
}

Description ComponentVersion::describe() const {
    const std::string text = fmt::format("install {} {}", component, version);
    std::vector<std::string> digests;
    digests.reserve(files.size());
    for (const ComponentFile& file : files) digests.push_back(file.digest);
    return {component, "component " + component, text, "", {}, std::move(digests)};
}

Description TransientUnit::describe() const {
    const std::string text = fmt::format("run {} in {}", fmt::join(argv, " "), name);
    return {name, "unit " + name, text, name, {"runs " + name}, {}};
}

Description Claim::describe() const {
    return {path, "content of " + path, fmt::format("record content of {} for undo", path), "", {},
            {}};
}

Description SideEffects::describe() const {
    const std::string objects(name_of(kind));
    return {objects,
            "side effects: " + objects,
            fmt::format("record existing {} for undo", objects),
            "",
            {},
            {}};
}

std::string_view type_of(const Step& step) {
    return std::visit([](const auto& type) { return type.kType; }, step);
}

const StepTraits& traits_of(const Step& step) {
    return std::visit([](const auto& type) -> const StepTraits& { return type.kTraits; }, step);
}

Description describe(const Step& step) {
    return std::visit([](const auto& type) { return type.describe(); }, step);
}

std::string path_of(const Step& step) {
    return std::visit(overloaded{
                          [](const RenderedFile& file) { return path_of(file.document); },
                          [](const Unmounted& mounts) { return mounts.below; },
                          [](const ComponentVersion& installed) {
                              return fmt::format("{}/{}", kComponents, installed.component);
                          },
                          [](const PathStep auto& at_path) { return at_path.path; },
                          [](const PathlessStep auto&) { return std::string(); },
                      },
                      step);
}

std::string object_of(const Step& step) { return describe(step).object; }

std::string target_of(const Step& step) { return describe(step).target; }
std::string text_of(const Step& step) { return describe(step).text; }
std::vector<std::string> effects_of(const Step& step) { return describe(step).effects; }

}  // namespace kubexm::model
