// Side effects of what we start: noted before, so that undo knows them as ours.

#include <fmt/format.h>

#include <algorithm>

#include "daemon/executor/steps/kinds.hpp"

namespace kubexm::executor::kinds {

namespace {

constexpr std::size_t kMaxEntries = 256;  // what was in a claimed directory before

/// Mounts go first: what is inside them is not ours to delete.
Result<> unmount_below(Context& context, const std::string& path) {
    return apply(context, model::Unmounted{path});
}

Result<> delete_entry(Context& context, const std::string& path) {
    auto done = remove_path(context.root, path);
    const bool is_full = !done && done.error().code == Code::conflict;
    return is_full ? delete_all_below(context, path) : done;
}

Result<> delete_new_entries(Context& context, const std::string& path,
                            const std::vector<std::string>& before) {
    auto now = list_directory(context.root, path, std::size_t{1} << 20U);
    if (!now && now.error().code == Code::not_found) return {};
    if (!now) return std::unexpected(now.error());
    for (const std::string& name : *now) {
        if (std::binary_search(before.begin(), before.end(), name)) continue;
        if (auto good = in_time(context.deadline, path); !good) return good;
        if (auto done = delete_entry(context, fmt::format("{}/{}", path, name)); !done) return done;
    }
    return {};
}

/// A claim is on what appears in a directory or where nothing was. What was a link or a file before
/// us, or became one in place of somebody's directory, is theirs, and so is what is behind it.
bool is_theirs(const PathPreImage& before, PathKind now) {
    if (before.kind == "absent") return false;
    return before.kind != "directory" || (now != PathKind::directory && now != PathKind::absent);
}

/// What others have put into it meanwhile keeps it.
Result<std::string> take_back_if_empty(Context& context, const std::string& path,
                                       const PathPreImage& before) {
    if (before.kind == "directory") return restore_path(context, path, before);
    auto done = remove_path(context.root, path);
    if (done || done.error().code == Code::not_found) return std::string();
    if (done.error().code == Code::conflict) return path + " stays: it is not empty";
    return std::unexpected(done.error());
}

}  // namespace

/// Claimed when the ledger has it.
Result<bool> holds(Context& context, const model::Claim& step) {
    return context.previous == model::Step(step);
}

Result<PreImage> capture(Context& context, const model::Claim& step) {
    auto state = state_at(context, step.path);
    if (!state) return std::unexpected(state.error());
    ClaimPreImage image{image_of(*state), {}};
    if (state->kind != PathKind::directory) return image;
    auto entries = list_directory(context.root, step.path, kMaxEntries);
    if (!entries) return std::unexpected(entries.error());
    image.entries = *std::move(entries);
    return image;
}

Result<> apply(Context&, const model::Claim&) { return {}; }

Result<std::string> undo(Context& context, const model::Claim& step, const PreImage& image) {
    auto before = image_as<ClaimPreImage>(image);
    if (!before) return std::unexpected(before.error());
    auto now = state_at(context, step.path);
    if (!now) return std::unexpected(now.error());
    if (is_theirs(before->directory, now->kind)) {
        return fmt::format("{} is left alone with what is behind it: before us it was: {}, now: {}",
                           step.path, before->directory.kind, image_of(*now).kind);
    }
    if (step.if_empty == true) return take_back_if_empty(context, step.path, before->directory);
    if (auto done = unmount_below(context, step.path); !done) return std::unexpected(done.error());
    if (before->directory.kind == "directory") {
        auto done = delete_new_entries(context, step.path, before->entries);
        if (!done) return std::unexpected(done.error());
        return restore_path(context, step.path, before->directory);
    }
    if (auto done = delete_entry(context, step.path); !done) return std::unexpected(done.error());
    return std::string();
}

Result<Lines> preview(Context&, const model::Claim& step) {
    return Lines{fmt::format("{}: what appears there is ours", step.path)};
}

}  // namespace kubexm::executor::kinds
