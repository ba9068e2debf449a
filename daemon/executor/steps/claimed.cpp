#include "daemon/executor/steps/claimed.hpp"

#include <algorithm>
#include <array>

#include "daemon/base/try.hpp"
#include "daemon/executor/steps/claimed_entries.hpp"
#include "daemon/executor/steps/kinds.hpp"
#include "daemon/executor/steps/kubelet_layout.hpp"

namespace kubexm::executor::claimed {

namespace {

/// kubelet makes these for plugins of others: they go if they are empty.
constexpr std::array kForPlugins{"/usr/libexec/kubernetes/kubelet-plugins/volume/exec",
                                 "/usr/libexec/kubernetes/kubelet-plugins/volume",
                                 "/usr/libexec/kubernetes/kubelet-plugins"};

/// Pods' mounts are deeper: one on an entry itself is not theirs, unless names with the prefix are
/// ours. One with a unit file, such as systemd makes for a line of /etc/fstab, is not theirs,
/// either.
bool is_pods_mount(const model::Claim& step, const Systemd::PathUnit& mount) {
    const std::string& path = mount.path;
    const std::string entry = entry_of(step.path, path);
    if (!mount.fragment.empty()) return false;
    if (step.prefix) return entry.starts_with(*step.prefix);
    const bool is_deeper = path.size() > step.path.size() + 1 + entry.size();
    return is_deeper && kubelet_layout::has_mounts_of_pods(path);
}

struct StoppedMounts {
    ObjectNames kept;  // paths of mounts of others, and of busy ones
    Result<> done;
};

/// Stops the new mounts of pods, also after one that is busy.
Result<StoppedMounts> unmount_new(Context& context, const model::Claim& step,
                                  const ObjectNames& before) {
    const auto mounts = TRY(context.systemd.active_units("mount", step.path, context.deadline));
    StoppedMounts result;
    for (const Systemd::PathUnit& mount : mounts) {
        const bool is_new = !contains(before, mount.path) && is_pods_mount(step, mount);
        const Result<> stopped = is_new ? kinds::stop_all(context, {mount}) : Result<>();
        if (!stopped) result.done = during("mount " + mount.path, stopped.error());
        if (!is_new || !stopped) result.kept.push_back(mount.path);
    }
    return result;
}

Result<> remove_empty_plugin_directories(Context& context, const model::Claim& step,
                                         const ObjectNames& before) {
    for (const std::string path : kForPlugins) {
        const bool is_claimed = is_strictly_below(path, step.path);
        if (!is_claimed || contains(before, entry_of(step.path, path))) continue;
        const auto state = inspect(context.root, path);
        const bool is_there = state && state->kind == PathKind::directory;
        if (!is_there || kinds::holds_others(context, path)) continue;
        auto done = remove_path(context.root, path);
        if (!done && done.error().code != Code::conflict) return done;
    }
    return {};
}

/// Returns the names of the others.
Result<ObjectNames> delete_new_entries(Context& context, const model::Claim& step,
                                       const ObjectNames& before, const ObjectNames& mounted) {
    const ObjectNames entries = TRY(new_entries(context, step.path, before));
    const ObjectNames kept = TRY(paths_of_others(context, step, entries, mounted));
    TRY(delete_entries(context, step.path, entries, kept));
    return names_of(step.path, kept);
}

}  // namespace

/// Others may use a prefix, too: a runtime that answers has removed its own entries with the pods,
/// so the others are theirs.
Result<ObjectNames> take_new(Context& context, const model::Claim& step,
                             const ClaimPreImage& before, PathKind now) {
    const bool is_there = now == PathKind::directory;
    if (step.prefix && is_there) {
        const bool are_others = TRY(context.runtime_answers(context.deadline));
        if (are_others) return new_entries(context, step.path, before.entries);
    }
    const StoppedMounts mounts =
        TRY(unmount_new(context, step, before.mounts.value_or(ObjectNames())));
    ObjectNames others;
    if (is_there) {
        TRY(remove_empty_plugin_directories(context, step, before.entries));
        others = TRY(delete_new_entries(context, step, before.entries, mounts.kept));
    }
    TRY(mounts.done);
    return others;
}

void leave_out_kubelets(const std::string& directory, ClaimPreImage& image) {
    for (const auto& known : kubelet_layout::known_directories()) {
        if (known.path == directory) std::erase_if(image.entries, known.has);
    }
    if (image.mounts) std::erase_if(*image.mounts, kubelet_layout::has_mounts_of_pods);
}

}  // namespace kubexm::executor::claimed
