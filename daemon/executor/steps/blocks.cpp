// Managed blocks in files of other owners.

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/io.hpp"
#include "daemon/base/refusal.hpp"
#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/steps/block_text.hpp"
#include "daemon/executor/steps/diff.hpp"
#include "daemon/executor/steps/kinds.hpp"
#include "daemon/executor/steps/rules.hpp"

namespace kubexm::executor::kinds {

namespace {

constexpr std::size_t kMaxFile = std::size_t{1} << 20U;

struct Current {
    PathState state;
    std::string text;
};

Result<Current> current(Context& context, const std::string& path) {
    auto state = TRY(inspect(context.root, path));
    if (state.kind == PathKind::absent) return Current{std::move(state), ""};
    auto text = TRY(read_file(context.root, path, kMaxFile));
    return Current{std::move(state), std::move(text)};
}

Attributes attributes_of(const PathState& state) {
    constexpr std::uint32_t kNewFile = 0644;
    if (state.kind == PathKind::absent) return {.mode = kNewFile};
    return {state.mode, state.uid, state.gid, state.xattrs};
}

/// Whether the file differs from the pre-image at most by our block. The lines of the block do not
/// matter: those of the step may have been journaled and never written.
bool differs_by_block_only(Context& context, const model::ManagedBlock& step,
                           const PathPreImage& before, const std::string& text) {
    std::string original;
    if (before.kind == PathKind::file) {
        auto blob = context.vault.open_blob(before.digest);
        if (!blob) return false;
        auto content = read_rest(blob->get(), step.path, kMaxFile);
        if (!content) return false;
        original = *std::move(content);
    }
    // with_block() ends the text before the block with a newline.
    const std::string with_any = with_block(original, step.name, {});
    return text == original || without_block(text, step.name) == without_block(with_any, step.name);
}

/// A marker inside the block would end it early, and undo would leave the rest behind.
bool is_block_line(const std::string& line) {
    return line.find_first_of("\n\r") == std::string::npos && !line.starts_with("# kubexm ");
}

}  // namespace

Result<> permitted(const model::AllowList& allow, const model::ManagedBlock& step) {
    if (!is_printable(step.name) || !std::ranges::all_of(step.lines, is_block_line)) {
        TRY(refusal("block-lines", Code::invalid,
                    "block: expected one line for its name and each of its lines, none beginning "
                    "with \"# kubexm \""));
    }
    return path_permitted(allow, step.kType, step.path);
}

Result<bool> holds(Context& context, const model::ManagedBlock& step) {
    const auto now = TRY(current(context, step.path));
    return now.state.kind == PathKind::file &&
           with_block(now.text, step.name, step.lines) == now.text;
}

Result<PreImage> capture(Context& context, const model::ManagedBlock& step) {
    auto file = TRY(capture_path(context, step.path));
    return BlockPreImage{std::move(file)};
}

Result<> apply(Context& context, const model::ManagedBlock& step) {
    const auto now = TRY(current(context, step.path));
    return replace_file(context.root, step.path, with_block(now.text, step.name, step.lines),
                        attributes_of(now.state));
}

Result<std::string> undo(Context& context, const model::ManagedBlock& step, const PreImage& image) {
    auto before = TRY(image_as<BlockPreImage>(image));
    const auto now = TRY(current(context, step.path));
    if (differs_by_block_only(context, step, before.file, now.text)) {
        return restore_path(context, step.path, before.file);
    }
    TRY(remove_leftovers(context.root, step.path));
    TRY(replace_file(context.root, step.path, without_block(now.text, step.name),
                     attributes_of(now.state)));
    return std::string();
}

Result<Lines> preview(Context& context, const model::ManagedBlock& step) {
    const auto now = TRY(current(context, step.path));
    if (is_private(now.state)) {  // also with a block of ours: the other lines are not
        return Lines{fmt::format("{}: write a block of {} lines", step.path, step.lines.size())};
    }
    return unified_diff(step.path, now.text, with_block(now.text, step.name, step.lines));
}

}  // namespace kubexm::executor::kinds
