// Paths that started units will fill: undo removes the entries that are new.

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/try.hpp"
#include "daemon/executor/steps/kinds.hpp"
#include "daemon/executor/steps/rules.hpp"

namespace kubexm::executor::kinds {

namespace {

constexpr std::size_t kMaxEntries = 256;  // in a claimed directory before the plan
constexpr std::size_t kMaxNewEntries = std::size_t{1} << 20U;

Result<> delete_entry(Context& context, const std::string& path) {
    auto done = remove_path(context.root, path);
    const bool is_full = !done && done.error().code == Code::conflict;
    return is_full ? delete_all_below(context, path) : done;
}

Result<> delete_new_entries(Context& context, const std::string& path,
                            const std::vector<std::string>& before) {
    const auto now = TRY(entries_in(context, path, kMaxNewEntries));
    for (const std::string& name : now) {
        if (std::binary_search(before.begin(), before.end(), name)) continue;
        TRY(in_time(context.deadline, path));
        TRY(delete_entry(context, fmt::format("{}/{}", path, name)));
    }
    return {};
}

/// A claim covers new entries of a directory, or a path that was absent. A link or file that
/// existed before, or that replaced a directory that existed before, belongs to another owner, and
/// so does its target.
bool has_other_owner(const PathPreImage& before, PathKind now) {
    if (before.kind == "absent") return false;
    return before.kind != "directory" || (now != PathKind::directory && now != PathKind::absent);
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
    ClaimPreImage image{image_of(state), {}};
    if (state.kind != PathKind::directory) return image;
    image.entries = TRY(list_directory(context.root, step.path, kMaxEntries));
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
    TRY(apply(context, model::Unmounted{step.path}));  // the content of a mount is not ours
    if (before.directory.kind == "directory") {
        TRY(delete_new_entries(context, step.path, before.entries));
        return restore_path(context, step.path, before.directory);
    }
    TRY(delete_entry(context, step.path));
    return std::string();
}

Result<Lines> preview(Context&, const model::Claim& step) {
    return Lines{fmt::format("{}: undo will remove new entries", step.path)};
}

}  // namespace kubexm::executor::kinds
