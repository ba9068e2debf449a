// Rendered, data and secret files.

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/digest.hpp"
#include "daemon/base/hex.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/render/documents.hpp"
#include "daemon/executor/render/render.hpp"
#include "daemon/executor/steps/diff.hpp"
#include "daemon/executor/steps/kinds.hpp"
#include "daemon/executor/steps/rules.hpp"

namespace kubexm::executor::kinds {

namespace {

constexpr std::uint64_t kMaxData = std::uint64_t{4} << 20U;  // of any file that is compared
constexpr std::size_t kMaxDiffed = std::size_t{256} << 10U;

struct DesiredFile {
    std::string path;
    std::string digest;
    Attributes attributes;
    std::optional<std::string> content;  // none: the vault has it
};

/// A file that was applied is not rendered again: this version may render it differently, or not at
/// all.
Result<DesiredFile> desired(const model::RenderedFile& step) {
    if (const std::optional<model::WrittenFile>& written = step.written) {
        const Attributes attributes{.mode = written->mode.bits};
        return DesiredFile{model::path_of(step.document), written->digest, attributes, {}};
    }
    auto rendered = TRY(render(step.document));
    const Attributes attributes{.mode = rendered.mode};
    return DesiredFile{rendered.path, sha256(rendered.content), attributes, rendered.content};
}

template <typename Step>
Result<DesiredFile> desired(const Step& step) {
    const model::FileAccess& access = step.access;
    const Attributes attributes{access.mode.bits, access.uid, access.gid, {}};
    return DesiredFile{step.path, step.digest, attributes, {}};
}

bool matches(const PathState& state, const DesiredFile& file) {
    return state.kind == PathKind::file && state.digest == file.digest &&
           state.mode == file.attributes.mode && state.uid == file.attributes.uid &&
           state.gid == file.attributes.gid;
}

template <typename Step>
Result<bool> file_holds(Context& context, const Step& step) {
    const DesiredFile file = TRY(desired(step));
    const PathState state = TRY(content_at(context, file.path, kMaxData));
    return matches(state, file);
}

template <typename Step>
Result<> file_apply(Context& context, const Step& step) {
    const DesiredFile file = TRY(desired(step));
    if (const std::optional<std::string>& content = file.content) {
        return replace_file(context.root, file.path, *content, file.attributes);
    }
    auto blob = context.vault.open_blob(file.digest);
    if (!blob) return during("content of " + file.path, blob.error());
    return replace_file_from(context.root, file.path, blob->get(), file.digest,
                             {kMaxData, context.deadline}, file.attributes);
}

template <typename Step>
Result<> content_permitted(const model::AllowList& allow, const Step& step, std::uint32_t most) {
    if (!is_sha256(step.digest)) {
        return fail(Code::invalid, "digest: expected a SHA-256 of 64 hexadecimal digits");
    }
    TRY(access_permitted(step.access, most));
    return path_permitted(allow, step.kType, step.path);
}

/// Text of a file for a diff; an absent file is empty.
std::string text_before(Context& context, const std::string& path) {
    return read_file(context.root, path, kMaxDiffed).value_or("");
}

std::string digest_before(Context& context, const std::string& path) {
    auto state = content_at(context, path, kMaxData);
    if (!state) return "unreadable";
    if (state->kind != PathKind::file) return "absent";
    return state->digest.empty() ? "a larger file" : state->digest;
}

/// systemd must not keep a unit whose file was removed. The ledger's daemon-reload does not ensure
/// that: the ledger has one for all owners, and none where systemd had not loaded the file before.
Result<> begin_reload_for(Context& context, const std::string& path) {
    if (!path.starts_with("/etc/systemd/")) return {};
    TRY(context.systemd.begin_reload(context.deadline));
    context.reloading = true;
    return {};
}

/// The content counts: a changed mode or owner alone does not make the file another's.
Result<std::string> file_undo(Context& context, const std::string& path, const PreImage& image) {
    return restore_if_ours(context, path, image, [&](const PathState& now) {
        return now.kind == PathKind::file &&
               std::ranges::find(context.written, now.digest) != context.written.end();
    });
}

/// Content without our notice: nobody else had the same.
template <typename Step>
Result<bool> is_of_lost_node(Context& context, const Step& step) {
    return context.has_lost_node ? file_holds(context, step) : Result<bool>(false);
}

template <typename Step>
Result<Lines> digest_preview(Context& context, const Step& step) {
    return Lines{
        fmt::format("{}: {} -> {}", step.path, digest_before(context, step.path), step.digest)};
}

}  // namespace

/// Rendering is pure and validates every parameter: a document that cannot be rendered is refused
/// before the steps in front of it have changed anything.
Result<> permitted(const model::AllowList& allow, const model::RenderedFile& step) {
    TRY(render(step.document));
    return document_permitted(allow, step.document);
}
Result<> permitted(const model::AllowList& allow, const model::DataFile& step) {
    TRY(content_permitted(allow, step, kMaxFileMode));
    return path_suits_kind(step.path, step.kind);
}
Result<> permitted(const model::AllowList& allow, const model::SecretFile& step) {
    return content_permitted(allow, step, kMaxSecretMode);
}

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
    const std::string path = model::path_of(step.document);
    const bool is_ours = text_before(context, path).contains(kNotice) &&
                         (context.has_lost_node || TRY(holds(context, step)));
    return capture_unless_ours(context, path, is_ours);
}
Result<PreImage> capture(Context& context, const model::DataFile& step) {
    return capture_unless_ours(context, step.path, TRY(is_of_lost_node(context, step)));
}
Result<PreImage> capture(Context& context, const model::SecretFile& step) {
    return capture_unless_ours(context, step.path, TRY(is_of_lost_node(context, step)));
}

Result<> apply(Context& context, const model::RenderedFile& step) {
    return file_apply(context, step);
}
Result<> apply(Context& context, const model::DataFile& step) { return file_apply(context, step); }
Result<> apply(Context& context, const model::SecretFile& step) {
    return file_apply(context, step);
}

Result<model::Step> recorded(Vault& vault, const model::RenderedFile& step) {
    if (step.written) return step;
    const auto rendered = TRY(render(step.document));
    const std::string digest = sha256(rendered.content);
    if (!vault.open_blob(digest)) TRY(vault.store(rendered.content, digest));
    return model::RenderedFile{step.document, model::WrittenFile{digest, {rendered.mode}}};
}

Result<std::string> written_by(const model::RenderedFile& step) {
    if (step.written) return step.written->digest;
    const auto rendered = TRY(render(step.document));
    return sha256(rendered.content);
}

Result<std::string> undo(Context& context, const model::RenderedFile& step, const PreImage& image) {
    const std::string path = model::path_of(step.document);
    auto stays = TRY(file_undo(context, path, image));
    TRY(begin_reload_for(context, path));
    return stays;
}
Result<std::string> undo(Context& context, const model::DataFile& step, const PreImage& image) {
    return file_undo(context, step.path, image);
}
Result<std::string> undo(Context& context, const model::SecretFile& step, const PreImage& image) {
    return file_undo(context, step.path, image);
}

Result<Lines> preview(Context& context, const model::RenderedFile& step) {
    if (step.written) {
        const std::string path = model::path_of(step.document);
        return Lines{
            fmt::format("{}: {} -> {}", path, digest_before(context, path), step.written->digest)};
    }
    const auto file = TRY(render(step.document));
    const auto state = inspect(context.root, file.path);
    if (state && !context.previous && is_private(*state)) {
        return Lines{fmt::format("{}: {} -> {}", file.path, digest_before(context, file.path),
                                 sha256(file.content))};
    }
    return unified_diff(file.path, text_before(context, file.path), file.content);
}
Result<Lines> preview(Context& context, const model::DataFile& step) {
    return digest_preview(context, step);
}
Result<Lines> preview(Context& context, const model::SecretFile& step) {
    return digest_preview(context, step);
}

}  // namespace kubexm::executor::kinds
