#include "daemon/executor/engine/footprint.hpp"

#include <algorithm>
#include <array>

namespace kubexm::executor {

namespace {

using namespace model;

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

bool stands_alone(const Step& step) { return traits_of(step).commit_group == CommitGroup::alone; }

bool is_unit_file(const Step& step) { return path_of(step).starts_with("/etc/systemd/"); }

/// systemd reads unit files when it reloads.
bool is_reload_of(const Step& reload, const Step& file) {
    return std::holds_alternative<DaemonReload>(reload) && is_unit_file(file);
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

bool is_needed(const Step& step, NeededBy by) {
    const NeededBy trait = traits_of(step).needed_by;
    return trait == by || trait == NeededBy::both;
}

bool is_effect(const Step& step, SideEffect kind) {
    const auto* effects = std::get_if<SideEffects>(&step);
    return effects != nullptr && effects->kind == kind;
}

bool is_pods(const Step& step) { return is_effect(step, SideEffect::pods); }

bool is_pod_network(const Step& step) {
    const auto* file = std::get_if<RenderedFile>(&step);
    return file != nullptr && std::holds_alternative<CniConfiguration>(file->document);
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

bool only_records(const Step& step) { return traits_of(step).commit_group == CommitGroup::records; }

bool may_share_commit(const Step& a, const Step& b) {
    const bool only_read =
        std::holds_alternative<model::Claim>(a) && std::holds_alternative<model::Claim>(b);
    return !touch_the_same(a, b) && (only_read || !have_nested_paths(a, b));
}

bool may_share_undo_commit(const Step& a, const Step& b) {
    return !touch_the_same(a, b) && !have_nested_paths(a, b) && !is_pods(a) && !is_pods(b);
}

bool may_undo_during_reload(const Step& unit_file, const Step& step) {
    return !touch_the_same(unit_file, step) && !have_nested_paths(unit_file, step) &&
           !is_unit_file(step) && !is_effect(step, SideEffect::cgroups) &&
           !is_effect(step, SideEffect::network_files);
}

std::size_t first_group(std::span<const Step* const> steps) {
    std::size_t size = std::min<std::size_t>(1, steps.size());
    const auto fits = [&](const Step* earlier) { return may_share_commit(*earlier, *steps[size]); };
    while (size < steps.size() && std::ranges::all_of(steps.first(size), fits)) ++size;
    return size;
}

bool is_claimed(const Step& step, const Step& claim) {
    return std::holds_alternative<Claim>(claim) && contains(path_of(claim), path_of(step));
}

bool depends(const Step& older, const Step& failed) {
    if (contains(path_of(older), path_of(failed))) return true;
    // A service that still runs needs its files, and makes the objects again that are removed.
    if (std::holds_alternative<UnitState>(failed)) return is_needed(older, NeededBy::units);
    // Pods that still run need their mounts and their network; removing them needs the runtime.
    return is_pods(failed) && (is_needed(older, NeededBy::pods) || is_pod_network(older));
}

}  // namespace kubexm::executor
