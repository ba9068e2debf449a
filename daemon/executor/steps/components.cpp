// A component in the directory of its version, and the link to the version in use.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "daemon/base/refusal.hpp"
#include "daemon/base/scan.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/steps/kinds.hpp"
#include "daemon/executor/steps/rules.hpp"

namespace kubexm::executor::kinds {

namespace {

using model::ComponentFile;
using model::ComponentVersion;

constexpr std::uint64_t kMaxBinary = model::kBinaries.limit;
constexpr std::uint32_t kMaxMode = 0755;
constexpr std::string_view kCurrent = "current";
constexpr std::size_t kMaxVersions = 256;

std::string home_of(const ComponentVersion& step) {
    return std::string(model::kComponents) + "/" + step.component;
}
std::string link_of(const ComponentVersion& step) {
    return fmt::format("{}/{}", home_of(step), kCurrent);
}
std::string version_of(const ComponentVersion& step) { return home_of(step) + "/" + step.version; }

Result<bool> file_matches(Context& context, const ComponentVersion& step,
                          const ComponentFile& file) {
    auto state = TRY(content_at(context, version_of(step) + "/" + file.path, kMaxBinary));
    return state.kind == PathKind::file && state.digest == file.digest &&
           state.mode == file.mode.bits && state.uid == 0 && state.gid == 0;
}

Result<bool> version_matches(Context& context, const ComponentVersion& step) {
    for (const ComponentFile& file : step.files) {
        const bool right = TRY(file_matches(context, step, file));
        if (!right) return false;
    }
    return true;
}

/// A directory of that version that was filled by another owner must not be changed.
Result<> check_existing(Context& context, const ComponentVersion& step) {
    const auto* previous =
        context.previous ? std::get_if<ComponentVersion>(&*context.previous) : nullptr;
    if (previous != nullptr && previous->version == step.version) return {};
    auto state = TRY(state_at(context, version_of(step)));
    if (state.kind == PathKind::absent) return {};
    const bool right = TRY(version_matches(context, step));
    if (right) return {};
    return fail(
        Code::conflict,
        fmt::format("{}: expected the content of this version, found other content; move it away",
                    version_of(step)));
}

/// An existing one gets its mode as well: the last attempt may have been killed before that.
Result<> ensure_directory(Context& context, const std::string& path) {
    auto state = TRY(inspect(context.root, path));
    return make_directory(context.root, path, Attributes{.mode = 0755, .xattrs = state.xattrs});
}

/// The directories above a file of the version, from the top.
Result<> make_parents(Context& context, const ComponentVersion& step, const ComponentFile& file) {
    std::string path = version_of(step);
    for (const auto& part : std::filesystem::path(file.path).parent_path()) {
        path += "/" + part.string();
        TRY(ensure_directory(context, path));
    }
    return {};
}

Result<> install(Context& context, const ComponentVersion& step, const ComponentFile& file) {
    const bool right = TRY(file_matches(context, step, file));
    if (right) return {};
    const std::string path = version_of(step) + "/" + file.path;
    auto blob = context.vault.open_blob(file.digest);
    if (!blob) return during("content of " + path, blob.error());
    TRY(make_parents(context, step, file));
    return replace_file_from(context.root, path, blob->get(), file.digest,
                             {kMaxBinary, context.deadline}, Attributes{.mode = file.mode.bits});
}

Result<> delete_new_versions(Context& context, const ComponentVersion& step,
                             const std::vector<std::string>& before) {
    const auto now = TRY(entries_in(context, home_of(step), kMaxVersions));
    for (const std::string& name : now) {
        if (name == kCurrent || std::binary_search(before.begin(), before.end(), name)) continue;
        TRY(delete_all_below(context, fmt::format("{}/{}", home_of(step), name)));
    }
    return {};
}

/// One visible name in a directory, and not the link beside the versions.
bool is_version(std::string_view text) {
    constexpr std::size_t kMaxLength = 64;
    const auto is_such = [](char c) { return is_name_character(c) || c == '+'; };
    return text.size() <= kMaxLength && made_of(text, is_such) && text.front() != '.' &&
           text != kCurrent;
}

Result<> is_trusted(const model::AllowList& allow, const ComponentVersion& step,
                    const ComponentFile& file) {
    TRY(check_path("/" + file.path));
    if ((file.mode.bits & ~kMaxMode) != 0) {
        TRY(refusal("component-modes", Code::denied,
                    fmt::format("{}: expected a mode within {:04o}, found {:04o}", file.path,
                                kMaxMode, file.mode.bits)));
    }
    const std::string name = fmt::format("{}/{}/{}", step.component, step.version, file.path);
    const auto entry = allow.digests.find(name);
    if (entry != allow.digests.end() && entry->second == file.digest) return {};
    return refusal(
        "digests", Code::denied,
        fmt::format("root's list of trusted digests has no line \"{}  {}\"", file.digest, name));
}

}  // namespace

Result<> permitted(const model::AllowList& allow, const ComponentVersion& step) {
    TRY(listed(allow.components, step.component, "components"));
    if (!is_version(step.version)) {
        TRY(refusal("component-versions", Code::invalid,
                    "version: expected letters, digits and . _ - +, such as v1.34.1"));
    }
    if (step.files.empty()) return fail(Code::invalid, "files: expected at least one");
    for (const ComponentFile& file : step.files) TRY(is_trusted(allow, step, file));
    return {};
}

Result<bool> holds(Context& context, const ComponentVersion& step) {
    auto link = TRY(state_at(context, link_of(step)));
    if (link.kind != PathKind::symlink || link.target != step.version) return false;
    return version_matches(context, step);
}

Result<PreImage> capture(Context& context, const ComponentVersion& step) {
    TRY(check_existing(context, step));
    auto home = TRY(capture_path(context, home_of(step)));
    if (home.kind == PathKind::absent) return ComponentPreImage{std::move(home), {}, {}};
    auto link = TRY(capture_path(context, link_of(step)));
    auto entries = TRY(list_directory(context.root, home_of(step), kMaxVersions));
    return ComponentPreImage{std::move(home), std::move(link), std::move(entries)};
}

/// The link is replaced last and atomically: it always leads to a whole version.
Result<> apply(Context& context, const ComponentVersion& step) {
    for (const std::string& path : {home_of(step), version_of(step)}) {
        TRY(ensure_directory(context, path));
    }
    std::size_t number = 0;
    for (const ComponentFile& file : step.files) {
        context.progress(fmt::format("installed {} of {} files", number++, step.files.size()));
        TRY(install(context, step, file));
    }
    return replace_symlink(context.root, link_of(step), step.version, Attributes{.mode = 0777});
}

Result<std::string> undo(Context& context, const ComponentVersion& step, const PreImage& image) {
    auto before = TRY(image_as<ComponentPreImage>(image));
    TRY(restore_path(context, link_of(step), before.current));
    TRY(delete_new_versions(context, step, before.entries));
    return restore_path(context, home_of(step), before.home);
}

Result<Lines> preview(Context& context, const ComponentVersion& step) {
    auto link = TRY(state_at(context, link_of(step)));
    const std::string before = link.kind == PathKind::symlink ? link.target : "absent";
    Lines lines{fmt::format("{}: {} -> {}", link_of(step), before, step.version)};
    for (const ComponentFile& file : step.files) {
        const bool right = TRY(file_matches(context, step, file));
        if (right) continue;
        lines.push_back(fmt::format("{}/{}: -> {}", version_of(step), file.path, file.digest));
    }
    return lines;
}

}  // namespace kubexm::executor::kinds
