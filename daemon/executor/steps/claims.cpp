// Paths that started units will fill: undo removes the entries that are new.

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/try.hpp"
#include "daemon/executor/steps/kinds.hpp"
#include "daemon/executor/steps/rules.hpp"

namespace kubexm::executor::kinds {

namespace {

constexpr std::size_t kMaxEntries = 4000;  // in a claimed directory before the plan
constexpr std::size_t kMaxMounts = 4000;
constexpr std::size_t kMaxNewEntries = std::size_t{1} << 20U;
constexpr std::size_t kMaxNamed = 8;  // of the entries that stay

using Names = std::vector<std::string>;

bool contains(const Names& sorted, const std::string& name) {
    return std::ranges::binary_search(sorted, name);
}

/// The name of the entry of a directory that a path below it is, or is in.
std::string entry_of(const std::string& directory, const std::string& path) {
    const std::size_t begin = directory.size() + 1;
    return path.substr(begin, path.find('/', begin) - begin);
}

/// Pods' mounts are deeper: one on an entry itself is somebody's, unless names with the prefix are
/// ours.
bool is_pods_mount(const model::Claim& step, const std::string& path) {
    const std::string entry = entry_of(step.path, path);
    if (step.prefix) return entry.starts_with(*step.prefix);
    return path.size() > step.path.size() + 1 + entry.size();
}

/// Stops the new mounts of pods; returns the entries that have other mounts, sorted.
Result<Names> unmount_new(Context& context, const model::Claim& step, const Names& before) {
    auto mounts = TRY(context.systemd.active_units("mount", step.path, context.deadline));
    Names mounted;
    std::erase_if(mounts, [&](const Systemd::PathUnit& mount) {
        if (!contains(before, mount.path) && is_pods_mount(step, mount.path)) return false;
        mounted.push_back(entry_of(step.path, mount.path));
        return true;
    });
    TRY(stop_all(context, mounts));
    std::ranges::sort(mounted);
    return mounted;
}

Result<> delete_entry(Context& context, const std::string& path) {
    auto done = remove_path(context.root, path);
    const bool is_full = !done && done.error().code == Code::conflict;
    return is_full ? delete_all_below(context, path) : done;
}

/// Deletes the new entries that are ours; returns the names of the others.
Result<Names> delete_new_entries(Context& context, const model::Claim& step, const Names& before,
                                 const Names& mounted) {
    const auto now = TRY(entries_in(context, step.path, kMaxNewEntries));
    Names others;
    for (const std::string& name : now) {
        if (contains(before, name)) continue;
        const bool is_ours = !contains(mounted, name) && name.starts_with(step.prefix.value_or(""));
        if (!is_ours) {
            others.push_back(name);
            continue;
        }
        TRY(in_time(context.deadline, step.path));
        TRY(delete_entry(context, fmt::format("{}/{}", step.path, name)));
    }
    return others;
}

std::string stays(const std::string& path, const Names& others) {
    if (others.empty()) return "";
    const std::size_t count = std::min(others.size(), kMaxNamed);
    const auto end = others.begin() + static_cast<std::ptrdiff_t>(count);
    return fmt::format("{} stays with {}{}: not made by pods", path,
                       fmt::join(others.begin(), end, ", "),
                       count == others.size() ? "" : " and others");
}

/// A claim covers new entries of a directory, or a path that was absent. A link or file that
/// existed before, or that replaced a directory that existed before, belongs to another owner, and
/// so does its target.
bool has_other_owner(const PathPreImage& before, PathKind now) {
    if (before.kind == "absent") return false;
    return before.kind != "directory" || (now != PathKind::directory && now != PathKind::absent);
}

Result<Names> mounted_paths(Context& context, const std::string& path) {
    const auto mounts = TRY(context.systemd.active_units("mount", path, context.deadline));
    if (mounts.size() > kMaxMounts) {
        return fail(Code::exhausted,
                    fmt::format("{}: expected at most {} mounts below it, found {}", path,
                                kMaxMounts, mounts.size()));
    }
    Names paths;
    for (const Systemd::PathUnit& mount : mounts) paths.push_back(mount.path);
    std::ranges::sort(paths);
    return paths;
}

Result<std::string> undo_if_empty(Context& context, const std::string& path,
                                  const PathPreImage& before) {
    if (before.kind == "directory") return restore_path(context, path, before);
    auto done = remove_path(context.root, path);
    if (done || done.error().code == Code::not_found) return std::string();
    if (done.error().code == Code::conflict) return path + " stays: not empty";
    return std::unexpected(done.error());
}

}  // namespace

Result<> permitted(const model::AllowList& allow, const model::Claim& step) {
    return path_permitted(allow, step.kType, step.path);
}

/// True when the ledger has the claim.
Result<bool> holds(Context& context, const model::Claim& step) {
    return context.previous == model::Step(step);
}

Result<PreImage> capture(Context& context, const model::Claim& step) {
    const auto state = TRY(state_at(context, step.path));
    ClaimPreImage image{image_of(state), {}, {}};
    if (state.kind != PathKind::directory) return image;
    image.entries = TRY(list_directory(context.root, step.path, kMaxEntries));
    if (step.if_empty == true) return image;  // undo removes nothing that is mounted
    image.mounts = TRY(mounted_paths(context, step.path));
    return image;
}

Result<> apply(Context&, const model::Claim&) { return {}; }

Result<std::string> undo(Context& context, const model::Claim& step, const PreImage& image) {
    const auto before = TRY(image_as<ClaimPreImage>(image));
    const auto now = TRY(state_at(context, step.path));
    if (has_other_owner(before.directory, now.kind)) {
        return fmt::format("{} stays with its content: before the plan {}, now {}", step.path,
                           before.directory.kind, image_of(now).kind);
    }
    if (step.if_empty == true) return undo_if_empty(context, step.path, before.directory);
    const Names mounted = TRY(unmount_new(context, step, before.mounts.value_or(Names())));
    if (now.kind == PathKind::directory) {
        const Names others = TRY(delete_new_entries(context, step, before.entries, mounted));
        if (!others.empty()) return stays(step.path, others);
    }
    if (before.directory.kind == "directory") {
        return restore_path(context, step.path, before.directory);
    }
    TRY(delete_entry(context, step.path));
    return std::string();
}

Result<Lines> preview(Context&, const model::Claim& step) {
    return Lines{fmt::format("{}: undo will remove new entries", step.path)};
}

}  // namespace kubexm::executor::kinds
