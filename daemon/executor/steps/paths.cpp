// The state of a path before the plan, and how to restore it.

#include <fmt/format.h>
#include <sys/stat.h>

#include "daemon/base/hex.hpp"
#include "daemon/base/refusal.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/steps/kinds.hpp"

namespace kubexm::executor::kinds {

namespace {

constexpr std::uint64_t kMaxPreserved = std::uint64_t{64} << 20U;

Result<Attributes> attributes_of(const PathPreImage& image) {
    Attributes attributes{image.mode, image.uid, image.gid, {}};
    for (const Xattr& xattr : image.xattrs) {
        auto value = from_hex(xattr.hex);
        if (!value) {
            return fail(Code::corrupt, "ledger: extended attribute: expected hexadecimal digits");
        }
        attributes.xattrs[xattr.name] = *std::move(value);
    }
    return attributes;
}

/// Copies the content into the vault, which checks that it still has the digest. Also where the
/// vault's copy was damaged meanwhile: undo would need it.
Result<> preserve_content(Context& context, const std::string& path, const std::string& digest) {
    if (context.vault.open_blob(digest)) return {};
    auto file = TRY(open_file(context.root, path));
    struct stat state{};
    if (::fstat(file.get(), &state) != 0) return from_errno("read", path);
    TRY(context.may_preserve(state.st_size));
    return context.vault.store(file.get(), digest, kMaxPreserved);
}

Result<std::string> remove_ours(Context& context, const std::string& path) {
    auto removed = remove_path(context.root, path);
    if (removed) return std::string();
    // Another owner uses the directory now.
    if (removed.error().code == Code::conflict) return path + " stays: not empty";
    return std::unexpected(removed.error());
}

Result<> restore_directory(Context& context, const std::string& path,
                           const Attributes& attributes) {
    auto now = TRY(inspect(context.root, path));
    if (now.kind == PathKind::directory) return set_attributes(context.root, path, attributes);
    return make_directory(context.root, path, attributes);
}

Result<> restore_file(Context& context, const std::string& path, const PathPreImage& image,
                      const Attributes& attributes) {
    auto blob = context.vault.open_blob(image.digest);
    if (!blob) return during("restoring " + path, blob.error());
    return replace_file_from(context.root, path, blob->get(), image.digest,
                             {kMaxPreserved, context.deadline}, attributes);
}

Result<> put_back(Context& context, const std::string& path, const PathPreImage& image) {
    const auto attributes = TRY(attributes_of(image));
    switch (image.kind) {
        case PathKind::file:
            return restore_file(context, path, image, attributes);
        case PathKind::directory:
            return restore_directory(context, path, attributes);
        case PathKind::symlink:
            return replace_symlink(context.root, path, image.target, attributes);
        case PathKind::absent:
        case PathKind::other:
            break;
    }
    return fail(Code::corrupt,
                fmt::format("ledger: pre-image of {}: expected a file, directory or symlink, "
                            "found {}",
                            path, name_of(image.kind)));
}

/// apply() refuses to replace a file with several hard links, so undo must not touch it either.
Result<bool> was_never_replaced(Context& context, const std::string& path,
                                const PathPreImage& image) {
    auto now = TRY(inspect(context.root, path));
    if (now.links < 2) return false;
    auto whole = TRY(inspect_content(context.root, path, {kMaxPreserved, context.deadline}));
    return image_of(whole) == image;
}

/// A copy for a person, outside the host's files.
Result<std::string> set_aside(Context& context, const std::string& path, const PathState& now) {
    const Fd file = TRY(open_file(context.root, path));
    return context.vault.set_aside({path, now.digest, file.get()}, kMaxPreserved);
}

/// We made it, and it was changed since: it goes, so that no half of a node stays.
Result<std::string> remove_changed(Context& context, const std::string& path,
                                   const PathState& now) {
    if (now.kind == PathKind::symlink) {
        TRY(remove_path(context.root, path));
        return fmt::format(
            "{}: replaced by a link to {} after the plan wrote it; the link was removed", path,
            now.target);
    }
    if (now.kind != PathKind::file) return remove_ours(context, path);
    if (now.digest.empty()) {
        return fmt::format("{} stays: replaced by a file of more than {} bytes", path,
                           kMaxPreserved);
    }
    const std::string copy = TRY(set_aside(context, path, now));
    TRY(remove_path(context.root, path));
    return fmt::format("{}: changed after the plan wrote it; moved to {}", path, copy);
}

/// A file that existed before us and was changed since stays, and so does its original.
Result<std::string> leave_changed(Context& context, const std::string& path,
                                  const PathPreImage& image) {
    const auto text = [&](const std::string& original) {
        return fmt::format("{} stays: changed after the plan wrote it; original: {}", path,
                           original);
    };
    if (image.kind != PathKind::file) {
        return text(fmt::format("a {} {}", name_of(image.kind), image.target));
    }
    auto blob = context.vault.open_blob(image.digest);
    if (!blob) return during("original of " + path, blob.error());
    const std::string copy =
        TRY(context.vault.set_aside({path, image.digest, blob->get()}, kMaxPreserved));
    return text(copy);
}

}  // namespace

PathPreImage image_of(const PathState& state) {
    PathPreImage image{state.kind, state.digest, state.target, state.mode,
                       state.uid,  state.gid,    {},           {}};
    for (const auto& [name, value] : state.xattrs) image.xattrs.push_back({name, to_hex(value)});
    return image;
}

Result<PathState> state_at(Context& context, const std::string& path) {
    auto state = inspect(context.root, path);
    if (!state && state.error().code == Code::not_found) return PathState{};
    return state;
}

Result<PathState> content_at(Context& context, const std::string& path, std::uint64_t limit) {
    auto state = inspect_content(context.root, path, {limit, context.deadline});
    if (!state && state.error().code == Code::not_found) return PathState{};
    return state;
}

Result<std::vector<std::string>> entries_in(Context& context, const std::string& path,
                                            std::size_t limit) {
    auto names = list_directory(context.root, path, limit);
    if (!names && names.error().code == Code::not_found) return std::vector<std::string>{};
    return names;
}

Result<PathPreImage> capture_path(Context& context, const std::string& path) {
    const PathState state =
        TRY(inspect_content(context.root, path, {kMaxPreserved, context.deadline}));
    if (state.kind == PathKind::other) {
        return fail(Code::conflict,
                    fmt::format("{}: expected a file, directory or link; move it away", path));
    }
    if (state.kind != PathKind::file) return image_of(state);
    if (state.digest.empty()) {
        return fail(Code::exhausted, fmt::format("{}: expected at most {} bytes; undo could not "
                                                 "restore it: move it away",
                                                 path, kMaxPreserved));
    }
    TRY(preserve_content(context, path, state.digest));
    return image_of(state);
}

Result<PreImage> capture_unless_ours(Context& context, const std::string& path, bool is_ours) {
    if (is_ours) return PathPreImage{.ours = true};
    return capture_path(context, path);
}

bool is_private(const PathState& state) {
    return state.kind == PathKind::file && (state.mode & S_IROTH) == 0 && !is_off("private-files");
}

Result<std::string> restore_path(Context& context, const std::string& path,
                                 const PathPreImage& image) {
    TRY(remove_leftovers(context.root, path));
    if (image.kind == PathKind::absent) return remove_ours(context, path);
    const bool untouched = TRY(was_never_replaced(context, path, image));
    if (untouched) return std::string();
    TRY(put_back(context, path, image));
    return std::string();
}

Result<std::string> restore_if_ours(Context& context, const std::string& path,
                                    const PreImage& image, const IsOurs& ours) {
    const auto before = TRY(image_as<PathPreImage>(image));
    const auto now = TRY(content_at(context, path, kMaxPreserved));
    const bool nothing_to_lose =
        now.kind == PathKind::absent || image_of(now) == before || ours(now);
    if (nothing_to_lose) return restore_path(context, path, before);
    TRY(remove_leftovers(context.root, path));
    if (before.kind == PathKind::absent) return remove_changed(context, path, now);
    return leave_changed(context, path, before);
}

}  // namespace kubexm::executor::kinds
