// Directories, links, absent paths, deleted trees.

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/refusal.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/steps/kinds.hpp"
#include "daemon/executor/steps/rules.hpp"

namespace kubexm::executor::kinds {

namespace {

Result<bool> is_absent(Context& context, const std::string& path) {
    const auto state = TRY(state_at(context, path));
    return state.kind == PathKind::absent;
}

/// Only a directory of ours has the mode and owner of the step: those of others stay as they are.
bool is_as_wanted(const Context& context, const model::Directory& step, const PathState& now) {
    const bool same = now.mode == step.access.mode.bits && now.uid == step.access.uid &&
                      now.gid == step.access.gid;
    const bool may_change = context.created || is_off("foreign-directories");
    return now.kind == PathKind::directory && (same || !may_change);
}

Result<Lines> one_line(std::string line) { return Lines{std::move(line)}; }

}  // namespace

Result<> permitted(const model::AllowList& allow, const model::Directory& step) {
    TRY(access_permitted(step.access, kMaxDirectoryMode));
    return path_permitted(allow, step.kType, step.path);
}

Result<bool> holds(Context& context, const model::Directory& step) {
    const auto state = TRY(state_at(context, step.path));
    return is_as_wanted(context, step, state);
}

Result<PreImage> capture(Context& context, const model::Directory& step) {
    return capture_path(context, step.path);
}

Result<> apply(Context& context, const model::Directory& step) {
    const auto state = TRY(inspect(context.root, step.path));
    if (is_as_wanted(context, step, state)) return {};
    Attributes attributes{step.access.mode.bits, step.access.uid, step.access.gid, state.xattrs};
    if (state.kind == PathKind::directory) {
        return set_attributes(context.root, step.path, attributes);
    }
    return make_directory(context.root, step.path, attributes);
}

/// A directory that was there before was not changed.
Result<std::string> undo(Context& context, const model::Directory& step, const PreImage& image) {
    const auto before = TRY(image_as<PathPreImage>(image));
    if (before.kind == PathKind::directory) return std::string();
    return restore_path(context, step.path, before);
}

Result<Lines> preview(Context& context, const model::Directory& step) {
    const auto state = TRY(state_at(context, step.path));
    const std::string before = state.kind == PathKind::directory
                                   ? fmt::format("{:04o} {}:{}", state.mode, state.uid, state.gid)
                                   : "absent";
    return one_line(fmt::format("{}: {} -> {:04o} {}:{}", step.path, before, step.access.mode.bits,
                                step.access.uid, step.access.gid));
}

/// The target is checked as well: programs of root follow the link and write there.
Result<> permitted(const model::AllowList& allow, const model::Symlink& step) {
    TRY(path_permitted(allow, step.kType, step.path));
    const std::string directory = step.path.substr(0, step.path.rfind('/') + 1);
    const bool absolute = step.target.starts_with('/');
    return path_permitted(allow, step.kType, absolute ? step.target : directory + step.target);
}

Result<bool> holds(Context& context, const model::Symlink& step) {
    const auto state = TRY(state_at(context, step.path));
    return state.kind == PathKind::symlink && state.target == step.target;
}

Result<PreImage> capture(Context& context, const model::Symlink& step) {
    const bool is_ours = context.has_lost_node && TRY(holds(context, step));
    return capture_unless_ours(context, step.path, is_ours);
}

Result<> apply(Context& context, const model::Symlink& step) {
    return replace_symlink(context.root, step.path, step.target, Attributes{.mode = 0777});
}

Result<std::string> undo(Context& context, const model::Symlink& step, const PreImage& image) {
    const auto* applied =
        context.previous ? std::get_if<model::Symlink>(&*context.previous) : nullptr;
    return restore_if_ours(context, step.path, image, [&](const PathState& now) {
        if (now.kind != PathKind::symlink) return false;
        return now.target == step.target || (applied != nullptr && now.target == applied->target);
    });
}

Result<Lines> preview(Context& context, const model::Symlink& step) {
    const auto state = TRY(state_at(context, step.path));
    const std::string before = state.kind == PathKind::symlink  ? state.target
                               : state.kind == PathKind::absent ? "absent"
                                                                : "not a link";
    return one_line(fmt::format("{}: {} -> {}", step.path, before, step.target));
}

Result<> permitted(const model::AllowList& allow, const model::AbsentPath& step) {
    return path_permitted(allow, step.kType, step.path);
}

Result<bool> holds(Context& context, const model::AbsentPath& step) {
    return is_absent(context, step.path);
}

Result<PreImage> capture(Context& context, const model::AbsentPath& step) {
    return capture_path(context, step.path);
}

Result<> apply(Context& context, const model::AbsentPath& step) {
    return remove_path(context.root, step.path);
}

/// An object that is there now is not ours: the step leaves none.
Result<std::string> undo(Context& context, const model::AbsentPath& step, const PreImage& image) {
    const auto before = TRY(image_as<PathPreImage>(image));
    if (before.kind == PathKind::absent) return std::string();
    return restore_if_ours(context, step.path, image, [](const PathState&) { return false; });
}

Result<Lines> preview(Context&, const model::AbsentPath& step) {
    return one_line(step.path + ": present -> absent");
}

bool holds_others(const Context& context, const std::string& path) {
    return !is_off("objects-of-others") &&
           std::ranges::any_of(context.others, [&](const std::string& object) {
               return object == path || object.starts_with(path + "/");
           });
}

Result<> delete_all_below(Context& context, const std::string& path) {
    if (holds_others(context, path)) {
        return fail(Code::denied, path + ": it is or has an object of another owner");
    }
    return delete_tree(context.root, path, [&](std::uint64_t removed) {
        if (removed != 0) {
            context.progress(fmt::format("deleted {} files and directories", removed));
        }
        return in_time(context.deadline, path);
    });
}

Result<> permitted(const model::AllowList& allow, const model::DeletedTree& step) {
    return path_permitted(allow, step.kType, step.path);
}

Result<bool> holds(Context& context, const model::DeletedTree& step) {
    return is_absent(context, step.path);
}

/// Without content, which would be too much to keep.
Result<PreImage> capture(Context& context, const model::DeletedTree& step) {
    const auto state = TRY(state_at(context, step.path));
    return image_of(state);
}

Result<> apply(Context& context, const model::DeletedTree& step) {
    return delete_all_below(context, step.path);
}

Result<std::string> undo(Context&, const model::DeletedTree& step, const PreImage& image) {
    const auto before = TRY(image_as<PathPreImage>(image));
    if (before.kind == PathKind::absent) return std::string();
    return fmt::format("{}: deleted content cannot be restored", step.path);
}

Result<Lines> preview(Context&, const model::DeletedTree& step) {
    return one_line(step.path + " and everything below: present -> absent");
}

}  // namespace kubexm::executor::kinds
