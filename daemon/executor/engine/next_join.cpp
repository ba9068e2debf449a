#include "daemon/executor/engine/next_join.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "daemon/base/overloaded.hpp"

namespace kubexm::executor {

namespace {

using namespace model;

/// Claimed directories in which no pod has a mount, and from which nothing is started.
constexpr std::array<std::string_view, 6> kWithoutMounts{
    "/etc/kubernetes",         "/etc/kubernetes/pki", "/var/log/containers",
    "/usr/libexec/kubernetes", "/var/log/pods",       "/var/lib/kubelet/pki",
};

bool is_of_unit(const std::string& path) { return path.starts_with("/etc/systemd/system/"); }

/// With a kubeconfig of kubelet in the ledger the executor refuses the API server of another
/// cluster; kubelet takes the first pod network that it finds.
bool document_harms(const Document& document) {
    const auto* kubeconfig = std::get_if<Kubeconfig>(&document);
    return (kubeconfig != nullptr && kubeconfig->user == KubeconfigUser::kubelet) ||
           std::holds_alternative<CniConfiguration>(document);
}

bool claim_harms(const model::Claim& claim) {
    return claim.if_empty != true &&
           std::ranges::find(kWithoutMounts, claim.path) == kWithoutMounts.end();
}

/// Filters, links and routes of a pod network carry nothing without its pods.
bool effect_harms(SideEffect kind) {
    switch (kind) {
        case SideEffect::pods:
        case SideEffect::cgroups:        // processes of pods are in them
        case SideEffect::network_files:  // mounts and the configuration of a pod network
            return true;
        case SideEffect::chains:
        case SideEffect::sets:
        case SideEffect::links:
        case SideEffect::routes:
            return false;
    }
    std::unreachable();
}

}  // namespace

bool harms_next_join(const Step& step) {
    return std::visit(
        overloaded{
            [](const RenderedFile& file) {
                return is_of_unit(path_of(file.document)) || document_harms(file.document);
            },
            // The executor refuses other CAs of kubelet's clients than those of another owner.
            [](const DataFile& file) { return file.path == kClientCa; },
            [](const Symlink& link) { return is_of_unit(link.path); },
            [](const ManagedBlock& block) { return is_of_unit(block.path); },
            // Not a unit that the plan stopped: it belongs to the host, and its undo starts it.
            [](const UnitState& unit) { return unit.active == true || unit.enabled == true; },
            [](const model::Claim& claim) { return claim_harms(claim); },
            [](const SideEffects& effects) { return effect_harms(effects.kind); },
            [](const OneOf<SecretFile, Directory, Sysctl, KernelModule, SwapOff,
                           ComponentVersion> auto&) { return false; },
            // Their undo restores an older state, or changes nothing.
            [](const OneOf<AbsentPath, DeletedTree, Unmounted, DaemonReload, TransientUnit> auto&) {
                return false;
            },
        },
        step);
}

}  // namespace kubexm::executor
