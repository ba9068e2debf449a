// Paths that started units will fill: undo removes the entries that are new.

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/steps/claimed.hpp"
#include "daemon/executor/steps/kinds.hpp"
#include "daemon/executor/steps/new_objects.hpp"
#include "daemon/executor/steps/rules.hpp"

namespace kubexm::executor::kinds {

namespace {

constexpr std::size_t kMaxEntries = 4000;  // in a claimed directory before the plan
constexpr std::size_t kMaxMounts = 4000;

/// Others make network namespaces there, too: those of pods have names with this prefix.
constexpr std::string_view kNamespaces = "/run/netns";
constexpr std::string_view kOfPods = "cni-";

std::string stays(const std::string& path, const ObjectNames& others) {
    return fmt::format("{} stays with {}: not made by pods", path,
                       printable(new_objects::listed(others)));
}

/// A claim covers new entries of a directory, or a path that was absent. A link or file that
/// existed before, or that replaced a directory that existed before, belongs to another owner, and
/// so does its target.
bool has_other_owner(const PathPreImage& before, PathKind now) {
    if (before.kind == PathKind::absent) return false;
    return before.kind != PathKind::directory ||
           (now != PathKind::directory && now != PathKind::absent);
}

Result<ObjectNames> mounted_paths(Context& context, const std::string& path) {
    const auto mounts = TRY(context.systemd.active_units("mount", path, context.deadline));
    if (mounts.size() > kMaxMounts) {
        return fail(Code::exhausted,
                    fmt::format("{}: expected at most {} mounts below it, found {}", path,
                                kMaxMounts, mounts.size()));
    }
    ObjectNames paths;
    for (const Systemd::PathUnit& mount : mounts) paths.push_back(mount.path);
    std::ranges::sort(paths);
    return paths;
}

/// A whole tree is empty by now: one that is filled meanwhile is tried again.
Result<std::string> restore(Context& context, const model::Claim& step,
                            const PathPreImage& before) {
    if (before.kind == PathKind::directory) return restore_path(context, step.path, before);
    if (holds_others(context, step.path)) return step.path + " stays: another owner has it";
    auto done = remove_path(context.root, step.path);
    const bool is_full = !done && done.error().code == Code::conflict;
    if (is_full && step.if_empty == true) return step.path + " stays: not empty";
    TRY(std::move(done));
    return std::string();
}

}  // namespace

Result<> permitted(const model::AllowList& allow, const model::Claim& step) {
    TRY(path_permitted(allow, step.kType, step.path));
    const bool has_names = step.path == kNamespaces;
    if (step.prefix == (has_names ? std::optional(kOfPods) : std::nullopt)) return {};
    return refusal("claim-prefix", Code::denied,
                   fmt::format("claim of {}: expected {}, found {}", step.path,
                               has_names ? "the prefix cni-" : "no prefix",
                               step.prefix ? "\"" + *step.prefix + "\"" : "none"));
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
    if (context.has_lost_node) claimed::leave_out_kubelets(step.path, image);
    return image;
}

Result<> apply(Context&, const model::Claim&) { return {}; }

Result<std::string> undo(Context& context, const model::Claim& step, const PreImage& image) {
    const auto before = TRY(image_as<ClaimPreImage>(image));
    const auto now = TRY(state_at(context, step.path));
    if (has_other_owner(before.directory, now.kind)) {
        return fmt::format("{} stays with its content: before the plan {}, now {}", step.path,
                           name_of(before.directory.kind), name_of(now.kind));
    }
    if (step.if_empty == true) return restore(context, step, before.directory);
    const ObjectNames others = TRY(claimed::take_new(context, step, before, now.kind));
    if (!others.empty()) return stays(step.path, others);
    return restore(context, step, before.directory);
}

Result<Lines> preview(Context&, const model::Claim& step) {
    return Lines{fmt::format("{}: undo will remove new entries", step.path)};
}

}  // namespace kubexm::executor::kinds
