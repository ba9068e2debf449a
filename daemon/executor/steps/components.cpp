// A component in its versioned directory, and the link that says which version is in use.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "daemon/executor/steps/kinds.hpp"

namespace kubexm::executor::kinds {

namespace {

using model::ComponentFile;
using model::ComponentVersion;

constexpr std::uint64_t kMaxBinary = std::uint64_t{1} << 30U;
constexpr std::size_t kMaxVersions = 256;

std::string home_of(const ComponentVersion& step) {
    return std::string(model::kComponents) + "/" + step.component;
}
std::string link_of(const ComponentVersion& step) { return home_of(step) + "/current"; }
std::string version_of(const ComponentVersion& step) { return home_of(step) + "/" + step.version; }

Result<bool> file_is_right(Context& context, const ComponentVersion& step,
                           const ComponentFile& file) {
    auto state = content_at(context, version_of(step) + "/" + file.path, kMaxBinary);
    if (!state) return std::unexpected(state.error());
    return state->kind == PathKind::file && state->digest == file.digest &&
           state->mode == file.mode.bits && state->uid == 0 && state->gid == 0;
}

Result<bool> version_is_right(Context& context, const ComponentVersion& step) {
    for (const ComponentFile& file : step.files) {
        auto right = file_is_right(context, step, file);
        if (!right || !*right) return right;
    }
    return true;
}

/// A directory of that version that somebody else filled is not ours to change.
Result<> ours_or_right(Context& context, const ComponentVersion& step) {
    const auto* previous =
        context.previous ? std::get_if<ComponentVersion>(&*context.previous) : nullptr;
    if (previous != nullptr && previous->version == step.version) return {};
    auto state = state_at(context, version_of(step));
    if (!state) return std::unexpected(state.error());
    if (state->kind == PathKind::absent) return {};
    auto right = version_is_right(context, step);
    if (!right) return std::unexpected(right.error());
    if (*right) return {};
    return fail(Code::conflict,
                fmt::format("{} is there with other content than this version has: move it away",
                            version_of(step)));
}

/// Also one that is there: an earlier try may have been cut off between making it and this.
Result<> make_plain_directory(Context& context, const std::string& path) {
    auto state = inspect(context.root, path);
    if (!state) return std::unexpected(state.error());
    return make_directory(context.root, path, Attributes{.mode = 0755, .xattrs = state->xattrs});
}

/// The directories on the way to a file of the version, from the top.
Result<> make_way(Context& context, const ComponentVersion& step, const ComponentFile& file) {
    std::string path = version_of(step);
    for (const auto& part : std::filesystem::path(file.path).parent_path()) {
        path += "/" + part.string();
        if (auto made = make_plain_directory(context, path); !made) return made;
    }
    return {};
}

Result<> put_in_place(Context& context, const ComponentVersion& step, const ComponentFile& file) {
    auto right = file_is_right(context, step, file);
    if (!right) return std::unexpected(right.error());
    if (*right) return {};
    const std::string path = version_of(step) + "/" + file.path;
    auto blob = context.vault.open_blob(file.digest);
    if (!blob) return during("content of " + path, blob.error());
    if (auto made = make_way(context, step, file); !made) return made;
    return replace_file_from(context.root, path, blob->get(), file.digest,
                             {kMaxBinary, context.deadline}, Attributes{.mode = file.mode.bits});
}

Result<> delete_other_versions(Context& context, const ComponentVersion& step,
                               const std::vector<std::string>& before) {
    auto now = list_directory(context.root, home_of(step), kMaxVersions);
    if (!now && now.error().code == Code::not_found) return {};
    if (!now) return std::unexpected(now.error());
    for (const std::string& name : *now) {
        if (name == "current" || std::binary_search(before.begin(), before.end(), name)) continue;
        auto done = delete_all_below(context, fmt::format("{}/{}", home_of(step), name));
        if (!done) return done;
    }
    return {};
}

}  // namespace

Result<bool> holds(Context& context, const ComponentVersion& step) {
    auto link = state_at(context, link_of(step));
    if (!link) return std::unexpected(link.error());
    if (link->kind != PathKind::symlink || link->target != step.version) return false;
    return version_is_right(context, step);
}

Result<PreImage> capture(Context& context, const ComponentVersion& step) {
    if (auto good = ours_or_right(context, step); !good) return std::unexpected(good.error());
    auto home = capture_path(context, home_of(step));
    if (!home) return std::unexpected(home.error());
    if (home->kind == "absent") return ComponentPreImage{*std::move(home), {.kind = "absent"}, {}};
    auto link = capture_path(context, link_of(step));
    if (!link) return std::unexpected(link.error());
    auto entries = list_directory(context.root, home_of(step), kMaxVersions);
    if (!entries) return std::unexpected(entries.error());
    return ComponentPreImage{*std::move(home), *std::move(link), *std::move(entries)};
}

/// The link moves last and at once: whoever follows it finds a whole version.
Result<> apply(Context& context, const ComponentVersion& step) {
    for (const std::string& path : {home_of(step), version_of(step)}) {
        if (auto made = make_plain_directory(context, path); !made) return made;
    }
    std::size_t number = 0;
    for (const ComponentFile& file : step.files) {
        context.progress(fmt::format("{} of {} files in place", number++, step.files.size()));
        if (auto done = put_in_place(context, step, file); !done) return done;
    }
    return replace_symlink(context.root, link_of(step), step.version, Attributes{.mode = 0777});
}

Result<std::string> undo(Context& context, const ComponentVersion& step, const PreImage& image) {
    auto before = image_as<ComponentPreImage>(image);
    if (!before) return std::unexpected(before.error());
    if (auto stays = restore_path(context, link_of(step), before->current); !stays) return stays;
    auto done = delete_other_versions(context, step, before->entries);
    if (!done) return std::unexpected(done.error());
    return restore_path(context, home_of(step), before->home);
}

Result<Lines> preview(Context& context, const ComponentVersion& step) {
    auto link = state_at(context, link_of(step));
    if (!link) return std::unexpected(link.error());
    const std::string before = link->kind == PathKind::symlink ? link->target : "absent";
    Lines lines{fmt::format("{}: {} -> {}", link_of(step), before, step.version)};
    for (const ComponentFile& file : step.files) {
        auto right = file_is_right(context, step, file);
        if (!right) return std::unexpected(right.error());
        if (*right) continue;
        lines.push_back(fmt::format("{}/{}: -> {}", version_of(step), file.path, file.digest));
    }
    return lines;
}

}  // namespace kubexm::executor::kinds
