// Rendered, data and secret files.

#include <fmt/format.h>

#include "daemon/base/digest.hpp"
#include "daemon/executor/render/render.hpp"
#include "daemon/executor/steps/diff.hpp"
#include "daemon/executor/steps/kinds.hpp"

namespace kubexm::executor::kinds {

namespace {

constexpr std::uint64_t kMaxData = std::uint64_t{4} << 20U;
constexpr std::size_t kMaxDiffed = std::size_t{256} << 10U;

struct Wanted {
    std::string path;
    std::string digest;
    Attributes attributes;
    std::optional<std::string> content;  // else the vault has it
};

Attributes from_access(const model::FileAccess& access) {
    return {access.mode.bits, access.uid, access.gid, {}};
}

Result<Wanted> wanted(const model::RenderedFile& step) {
    auto rendered = render(step.document);
    if (!rendered) return std::unexpected(rendered.error());
    const Attributes attributes{.mode = rendered->mode};
    return Wanted{rendered->path, sha256(rendered->content), attributes, rendered->content};
}

Result<Wanted> wanted(const model::DataFile& step) {
    return Wanted{step.path, step.digest, from_access(step.access), {}};
}

Result<Wanted> wanted(const model::SecretFile& step) {
    return Wanted{step.path, step.digest, from_access(step.access), {}};
}

bool matches(const PathState& state, const Wanted& want) {
    return state.kind == PathKind::file && state.digest == want.digest &&
           state.mode == want.attributes.mode && state.uid == want.attributes.uid &&
           state.gid == want.attributes.gid;
}

template <typename Step>
Result<bool> file_holds(Context& context, const Step& step) {
    auto want = wanted(step);
    if (!want) return std::unexpected(want.error());
    auto state = content_at(context, want->path, kMaxData);
    if (!state) return std::unexpected(state.error());
    return matches(*state, *want);
}

template <typename Step>
Result<> file_apply(Context& context, const Step& step) {
    auto want = wanted(step);
    if (!want) return std::unexpected(want.error());
    if (const std::optional<std::string>& content = want->content) {
        return replace_file(context.root, want->path, *content, want->attributes);
    }
    auto blob = context.vault.open_blob(want->digest);
    if (!blob) return during("content of " + want->path, blob.error());
    return replace_file_from(context.root, want->path, blob->get(), want->digest,
                             {kMaxData, context.deadline}, want->attributes);
}

/// Text of a file for a diff; what is absent is empty.
std::string text_before(Context& context, const std::string& path) {
    return read_file(context.root, path, kMaxDiffed).value_or("");
}

std::string digest_before(Context& context, const std::string& path) {
    auto state = content_at(context, path, kMaxData);
    if (!state) return "what cannot be read";
    if (state->kind != PathKind::file) return "absent";
    return state->digest.empty() ? "a larger file" : state->digest;
}

/// systemd does not go on with a unit file that is not there any more. The ledger cannot be relied
/// on for that: it has one reload for all owners, and none where systemd had not read the file
/// before.
Result<> tell_systemd(Context& context, const std::string& path) {
    if (!path.starts_with("/etc/systemd/")) return {};
    return context.systemd.reload(context.deadline);
}

template <typename Step>
Result<Lines> shown_by_digest(Context& context, const Step& step) {
    return Lines{
        fmt::format("{}: {} -> {}", step.path, digest_before(context, step.path), step.digest)};
}

}  // namespace

Result<bool> holds(Context& context, const model::RenderedFile& step) {
    return file_holds(context, step);
}
Result<bool> holds(Context& context, const model::DataFile& step) {
    return file_holds(context, step);
}
Result<bool> holds(Context& context, const model::SecretFile& step) {
    return file_holds(context, step);
}

Result<PreImage> capture(Context& context, const model::RenderedFile& step) {
    return capture_path(context, model::path_of(step.document));
}
Result<PreImage> capture(Context& context, const model::DataFile& step) {
    return capture_path(context, step.path);
}
Result<PreImage> capture(Context& context, const model::SecretFile& step) {
    return capture_path(context, step.path);
}

Result<> apply(Context& context, const model::RenderedFile& step) {
    return file_apply(context, step);
}
Result<> apply(Context& context, const model::DataFile& step) { return file_apply(context, step); }
Result<> apply(Context& context, const model::SecretFile& step) {
    return file_apply(context, step);
}

Result<std::string> undo(Context& context, const model::RenderedFile& step, const PreImage& image) {
    const std::string path = model::path_of(step.document);
    auto stays = restore_image(context, path, image);
    if (!stays) return stays;
    if (auto told = tell_systemd(context, path); !told) return std::unexpected(told.error());
    return stays;
}
Result<std::string> undo(Context& context, const model::DataFile& step, const PreImage& image) {
    return restore_image(context, step.path, image);
}
Result<std::string> undo(Context& context, const model::SecretFile& step, const PreImage& image) {
    return restore_image(context, step.path, image);
}

Result<Lines> preview(Context& context, const model::RenderedFile& step) {
    auto rendered = render(step.document);
    if (!rendered) return std::unexpected(rendered.error());
    const auto state = inspect(context.root, rendered->path);
    if (state && is_private(context, *state)) {
        return Lines{fmt::format("{}: {} -> {}", rendered->path,
                                 digest_before(context, rendered->path),
                                 sha256(rendered->content))};
    }
    return unified_diff(rendered->path, text_before(context, rendered->path), rendered->content);
}

Result<Lines> preview(Context& context, const model::DataFile& step) {
    return shown_by_digest(context, step);
}
Result<Lines> preview(Context& context, const model::SecretFile& step) {
    return shown_by_digest(context, step);
}

}  // namespace kubexm::executor::kinds
