// By-products of what we start: noted before, so that undo knows them as ours.

#include <fmt/format.h>

#include <algorithm>

#include "daemon/hands/steps/kinds.hpp"

namespace kubexm::hands::kinds {

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

/// What others have put into it meanwhile keeps it.
Result<std::string> take_back_if_empty(Context& context, const std::string& path,
                                       const PathImage& before) {
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

Result<Image> capture(Context& context, const model::Claim& step) {
    auto directory = capture_path(context, step.path);
    // Also where there is no directory yet in which it could appear.
    if (!directory && directory.error().code == Code::not_found) return ClaimImage{{"absent"}, {}};
    if (!directory) return std::unexpected(directory.error());
    ClaimImage image{*std::move(directory), {}};
    if (image.directory.kind != "directory") return image;
    auto entries = list_directory(context.root, step.path, kMaxEntries);
    if (!entries) return std::unexpected(entries.error());
    image.entries = *std::move(entries);
    return image;
}

Result<> apply(Context&, const model::Claim&) { return {}; }

Result<std::string> take_back(Context& context, const model::Claim& step, const Image& image) {
    auto before = image_as<ClaimImage>(image);
    if (!before) return std::unexpected(before.error());
    if (step.if_empty == true) return take_back_if_empty(context, step.path, before->directory);
    if (auto done = unmount_below(context, step.path); !done) return std::unexpected(done.error());
    if (before->directory.kind == "directory") {
        auto done = delete_new_entries(context, step.path, before->entries);
        if (!done) return std::unexpected(done.error());
        return restore_path(context, step.path, before->directory);
    }
    auto done = delete_all_below(context, step.path);
    if (!done && done.error().code != Code::not_found) return std::unexpected(done.error());
    return std::string();
}

Result<Lines> preview(Context&, const model::Claim& step) {
    return Lines{fmt::format("{}: what appears there is ours", step.path)};
}

}  // namespace kubexm::hands::kinds
