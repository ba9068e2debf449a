#include "daemon/executor/engine/footprint.hpp"

#include <algorithm>
#include <array>

namespace kubexm::executor {

namespace {

using namespace model;

template <typename... Types>
bool is_one_of(const Step& step) {
    return (std::holds_alternative<Types>(step) || ...);
}

/// "/a" contains "/a" and "/a/b", and nothing is contained in no path.
bool contains(const std::string& outer, const std::string& inner) {
    if (outer.empty() || inner.empty()) return false;
    return inner == outer || inner.starts_with(outer + "/");
}

bool have_nested_paths(const Step& a, const Step& b) {
    const std::string one = path_of(a);
    const std::string other = path_of(b);
    return contains(one, other) || contains(other, one);
}

/// They start or stop something, or destroy what cannot be captured, or take long.
bool stands_alone(const Step& step) {
    return is_one_of<UnitState, TransientUnit, KernelModule, SwapOff, Unmounted, AbsentPath,
                     DeletedTree, ComponentVersion>(step);
}

bool is_unit_file(const Step& step) { return path_of(step).starts_with("/etc/systemd/"); }

/// systemd reads unit files when it reloads.
bool is_reload_of(const Step& reload, const Step& file) {
    return is_one_of<DaemonReload>(reload) && is_unit_file(file);
}

/// Setting forwarding for the host sets it for every interface, and undo captures that.
bool set_forwarding(const Step& a, const Step& b) {
    const auto* one = std::get_if<Sysctl>(&a);
    const auto* other = std::get_if<Sysctl>(&b);
    if (one == nullptr || other == nullptr) return false;
    return std::ranges::any_of(std::array{"net.ipv4.", "net.ipv6."}, [&](const char* family) {
        return one->key.starts_with(family) && other->key.starts_with(family);
    });
}

bool is_file_like(const Step& step) {
    return is_one_of<RenderedFile, DataFile, SecretFile, Directory, Symlink, ManagedBlock,
                     ComponentVersion, model::Claim>(step);
}

bool is_pods(const Step& step) {
    const auto* effects = std::get_if<SideEffects>(&step);
    return effects != nullptr && effects->kind == SideEffect::pods;
}

bool is_pod_network(const Step& step) {
    const auto* file = std::get_if<DataFile>(&step);
    return file != nullptr && file->kind == DataKind::cni_config;
}

/// Apart from paths in one another.
bool touch_the_same(const Step& a, const Step& b) {
    return stands_alone(a) || stands_alone(b) || is_one_object(a, b) || is_reload_of(a, b) ||
           is_reload_of(b, a) || set_forwarding(a, b);
}

}  // namespace

bool is_one_object(const Step& a, const Step& b) {
    return type_of(a) == type_of(b) && target_of(a) == target_of(b);
}

bool may_share_commit(const Step& a, const Step& b) {
    const bool only_read = is_one_of<model::Claim>(a) && is_one_of<model::Claim>(b);
    return !touch_the_same(a, b) && (only_read || !have_nested_paths(a, b));
}

bool may_share_undo_commit(const Step& a, const Step& b) {
    return !touch_the_same(a, b) && !have_nested_paths(a, b) && !is_pods(a) && !is_pods(b);
}

std::size_t first_group(std::span<const Step* const> steps) {
    std::size_t size = std::min<std::size_t>(1, steps.size());
    const auto fits = [&](const Step* earlier) { return may_share_commit(*earlier, *steps[size]); };
    while (size < steps.size() && std::ranges::all_of(steps.first(size), fits)) ++size;
    return size;
}

bool depends(const Step& older, const Step& failed) {
    if (contains(path_of(older), path_of(failed))) return true;
    // A service that still runs needs its files, and makes the objects again that are removed.
    if (is_one_of<UnitState>(failed)) {
        return is_file_like(older) || is_one_of<SideEffects>(older);
    }
    // Pods that still run need their mounts and their network; removing them needs the runtime.
    if (is_pods(failed)) {
        return is_one_of<model::Claim, SideEffects, UnitState, ComponentVersion>(older) ||
               is_pod_network(older);
    }
    return false;
}

bool harms_next_join(const Step& step) {
    return is_pods(step) || is_one_of<UnitState, Unmounted, model::Claim>(step);
}

}  // namespace kubexm::executor
