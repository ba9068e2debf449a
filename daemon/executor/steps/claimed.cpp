#include "daemon/executor/steps/claimed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "daemon/base/try.hpp"
#include "daemon/executor/steps/kinds.hpp"

namespace kubexm::executor::claimed {

namespace {

constexpr std::size_t kMaxNewEntries = std::size_t{1} << 20U;

/// Where kubelet and containerd mount something for pods.
constexpr std::array<std::string_view, 3> kWithMounts{
    "/var/lib/kubelet/pods/", "/var/lib/kubelet/plugins/", "/run/containerd/"};

/// Neither kubelet nor containerd writes a file there: the files of a join are steps of their own.
constexpr std::array<std::string_view, 2> kOfOthers{"/etc/kubernetes", "/usr/libexec/kubernetes"};

/// But kubelet makes these, for plugins of others: they go if they are empty.
constexpr std::array kForPlugins{"/usr/libexec/kubernetes/kubelet-plugins/volume/exec",
                                 "/usr/libexec/kubernetes/kubelet-plugins/volume",
                                 "/usr/libexec/kubernetes/kubelet-plugins"};

bool contains(const ObjectNames& sorted, const std::string& name) {
    return std::ranges::binary_search(sorted, name);
}

bool is_strictly_below(std::string_view path, std::string_view directory) {
    return path.size() > directory.size() && path.starts_with(directory) &&
           path[directory.size()] == '/';
}

bool is_of_others(std::string_view path) {
    return std::ranges::any_of(kOfOthers, [&](std::string_view tree) {
        return path == tree || is_strictly_below(path, tree);
    });
}

/// The name of the entry of a directory that a path below it is, or is in.
std::string entry_of(const std::string& directory, std::string_view path) {
    const std::size_t begin = directory.size() + 1;
    return std::string(path.substr(begin, path.find('/', begin) - begin));
}

/// Pods' mounts are deeper: one on an entry itself is not theirs, unless names with the prefix are
/// ours. One with a unit file, such as systemd makes for a line of /etc/fstab, is not theirs,
/// either.
bool is_pods_mount(const model::Claim& step, const Systemd::PathUnit& mount) {
    const std::string& path = mount.path;
    const std::string entry = entry_of(step.path, path);
    if (!mount.fragment.empty()) return false;
    if (step.prefix) return entry.starts_with(*step.prefix);
    const bool is_deeper = path.size() > step.path.size() + 1 + entry.size();
    return is_deeper && std::ranges::any_of(kWithMounts, [&](std::string_view directory) {
               return path.starts_with(directory);
           });
}

struct StoppedMounts {
    ObjectNames kept;  // entries that have mounts of others, or busy ones
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
        if (!is_new || !stopped) result.kept.push_back(entry_of(step.path, mount.path));
    }
    std::ranges::sort(result.kept);
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

Result<> delete_entry(Context& context, const std::string& path) {
    auto done = remove_path(context.root, path);
    const bool is_full = !done && done.error().code == Code::conflict;
    return is_full ? kinds::delete_all_below(context, path) : done;
}

bool is_ours(const Context& context, const model::Claim& step, const std::string& name,
             const std::string& path) {
    return name.starts_with(step.prefix.value_or("")) && !is_of_others(path) &&
           !kinds::holds_others(context, path);
}

Result<ObjectNames> new_entries(Context& context, const std::string& path,
                                const ObjectNames& before) {
    auto names = TRY(kinds::entries_in(context, path, kMaxNewEntries));
    std::erase_if(names, [&](const std::string& name) { return contains(before, name); });
    return names;
}

/// Returns the names of the others.
Result<ObjectNames> delete_new_entries(Context& context, const model::Claim& step,
                                       const ObjectNames& before, const ObjectNames& mounted) {
    ObjectNames others = TRY(new_entries(context, step.path, before));
    const auto ours = std::ranges::stable_partition(others, [&](const std::string& name) {
        const std::string path = fmt::format("{}/{}", step.path, name);
        return contains(mounted, name) || !is_ours(context, step, name, path);
    });
    for (const std::string& name : ours) {
        TRY(in_time(context.deadline, step.path));
        TRY(delete_entry(context, fmt::format("{}/{}", step.path, name)));
    }
    others.erase(ours.begin(), ours.end());
    return others;
}

}  // namespace

/// Others may use a prefix, too: a runtime that answers has removed its own with the pods, so what
/// is left is theirs.
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

}  // namespace kubexm::executor::claimed
