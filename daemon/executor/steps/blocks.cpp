// Managed blocks: the file belongs to somebody else.

#include <fmt/format.h>
#include <unistd.h>

#include "daemon/base/digest.hpp"
#include "daemon/executor/steps/block_text.hpp"
#include "daemon/executor/steps/diff.hpp"
#include "daemon/executor/steps/kinds.hpp"

namespace kubexm::executor::kinds {

namespace {

constexpr std::size_t kMaxFile = std::size_t{1} << 20U;

struct Current {
    PathState state;
    std::string text;
};

Result<Current> current(Context& context, const std::string& path) {
    auto state = inspect(context.root, path);
    if (!state) return std::unexpected(state.error());
    if (state->kind == PathKind::absent) return Current{*std::move(state), ""};
    auto text = read_file(context.root, path, kMaxFile);
    if (!text) return std::unexpected(text.error());
    return Current{*std::move(state), *std::move(text)};
}

Attributes attributes_of(const PathState& state) {
    constexpr std::uint32_t kNewFile = 0644;
    if (state.kind == PathKind::absent) return {.mode = kNewFile};
    return {state.mode, state.uid, state.gid, state.xattrs};
}

/// Whether nobody but us touched the file: it is the old text, with or without a block of ours. Its
/// lines do not matter: those of the step may have been prepared and never written.
bool only_ours(Context& context, const model::ManagedBlock& step, const PathPreImage& before,
               const std::string& text) {
    std::string original;
    if (before.kind == "file") {
        auto blob = context.vault.open_blob(before.digest);
        if (!blob) return false;
        original.resize(kMaxFile);
        const ssize_t size = ::read(blob->get(), original.data(), original.size());
        if (size < 0) return false;
        original.resize(static_cast<std::size_t>(size));
    }
    // A block begins on a line of its own, so the text before it may have got its last newline.
    const std::string with_any = with_block(original, step.name, {});
    return text == original || without_block(text, step.name) == without_block(with_any, step.name);
}

}  // namespace

Result<bool> holds(Context& context, const model::ManagedBlock& step) {
    auto now = current(context, step.path);
    if (!now) return std::unexpected(now.error());
    return now->state.kind == PathKind::file &&
           with_block(now->text, step.name, step.lines) == now->text;
}

Result<PreImage> capture(Context& context, const model::ManagedBlock& step) {
    auto file = capture_path(context, step.path);
    if (!file) return std::unexpected(file.error());
    return BlockPreImage{*std::move(file)};
}

Result<> apply(Context& context, const model::ManagedBlock& step) {
    auto now = current(context, step.path);
    if (!now) return std::unexpected(now.error());
    return replace_file(context.root, step.path, with_block(now->text, step.name, step.lines),
                        attributes_of(now->state));
}

Result<std::string> undo(Context& context, const model::ManagedBlock& step, const PreImage& image) {
    auto before = image_as<BlockPreImage>(image);
    if (!before) return std::unexpected(before.error());
    auto now = current(context, step.path);
    if (!now) return std::unexpected(now.error());
    if (only_ours(context, step, before->file, now->text)) {
        return restore_path(context, step.path, before->file);
    }
    if (auto cleaned = remove_leftovers(context.root, step.path); !cleaned) {
        return std::unexpected(cleaned.error());
    }
    auto done = replace_file(context.root, step.path, without_block(now->text, step.name),
                             attributes_of(now->state));
    if (!done) return std::unexpected(done.error());
    return std::string();
}

Result<Lines> preview(Context& context, const model::ManagedBlock& step) {
    auto now = current(context, step.path);
    if (!now) return std::unexpected(now.error());
    if (is_private(context, now->state)) {
        return Lines{fmt::format("{}: {} lines of ours", step.path, step.lines.size())};
    }
    return unified_diff(step.path, now->text, with_block(now->text, step.name, step.lines));
}

}  // namespace kubexm::executor::kinds
