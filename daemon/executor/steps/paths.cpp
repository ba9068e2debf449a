// What the steps on files share: the state of a path before us, and giving it back.

#include <fmt/format.h>
#include <sys/stat.h>

#include "daemon/base/hex.hpp"
#include "daemon/executor/steps/kinds.hpp"

namespace kubexm::executor::kinds {

namespace {

constexpr std::uint64_t kMaxKept = std::uint64_t{64} << 20U;

std::string_view word_of(PathKind kind) {
    switch (kind) {
        case PathKind::absent:
            return "absent";
        case PathKind::file:
            return "file";
        case PathKind::directory:
            return "directory";
        case PathKind::symlink:
            return "symlink";
        case PathKind::other:
            return "other";
    }
    std::unreachable();
}

Result<Attributes> attributes_of(const PathPreImage& image) {
    Attributes attributes{image.mode, image.uid, image.gid, {}};
    for (const Xattr& xattr : image.xattrs) {
        auto value = from_hex(xattr.hex);
        if (!value) {
            return fail(Code::corrupt, "ledger: an extended attribute is not hexadecimal");
        }
        attributes.xattrs[xattr.name] = *std::move(value);
    }
    return attributes;
}

/// Keeps the content of the file as it is now; the digest tells whether it is still what was seen.
Result<> preserve_content(Context& context, const std::string& path, const std::string& digest) {
    if (context.vault.has(digest)) return {};
    auto file = open_file(context.root, path);
    if (!file) return std::unexpected(file.error());
    return context.vault.store(file->get(), digest, kMaxKept);
}

Result<std::string> remove_ours(Context& context, const std::string& path) {
    auto removed = remove_path(context.root, path);
    if (removed) return std::string();
    // A directory of ours in which somebody else put something is theirs now.
    if (removed.error().code == Code::conflict) {
        return fmt::format("{} stays: it is not empty", path);
    }
    return std::unexpected(removed.error());
}

Result<> restore_directory(Context& context, const std::string& path,
                           const Attributes& attributes) {
    auto now = inspect(context.root, path);
    if (!now) return std::unexpected(now.error());
    if (now->kind == PathKind::directory) return set_attributes(context.root, path, attributes);
    return make_directory(context.root, path, attributes);
}

Result<> restore_file(Context& context, const std::string& path, const PathPreImage& image,
                      const Attributes& attributes) {
    auto blob = context.vault.open_blob(image.digest);
    if (!blob) return during("giving back " + path, blob.error());
    return replace_file_from(context.root, path, blob->get(), image.digest,
                             {kMaxKept, context.deadline}, attributes);
}

/// A file with other names was refused when we were to replace it, and is to be left alone now.
Result<bool> was_never_ours(Context& context, const std::string& path, const PathPreImage& image) {
    auto now = inspect(context.root, path);
    if (!now) return std::unexpected(now.error());
    if (now->links < 2) return false;
    auto whole = inspect_content(context.root, path, {kMaxKept, context.deadline});
    if (!whole) return std::unexpected(whole.error());
    return image_of(*whole) == image;
}

}  // namespace

PathPreImage image_of(const PathState& state) {
    PathPreImage image{std::string(word_of(state.kind)),
                       state.digest,
                       state.target,
                       state.mode,
                       state.uid,
                       state.gid,
                       {}};
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
    const bool tell_less =
        !state && (state.error().code == Code::not_found || state.error().code == Code::exhausted);
    return tell_less ? state_at(context, path) : state;
}

Result<PathPreImage> capture_path(Context& context, const std::string& path) {
    auto state = inspect_content(context.root, path, {kMaxKept, context.deadline});
    if (!state && state.error().code == Code::exhausted) {
        return fail(Code::exhausted,
                    state.error().what + " to be kept for undo: move it away first");
    }
    if (!state) return std::unexpected(state.error());
    if (state->kind == PathKind::other) {
        return fail(
            Code::conflict,
            fmt::format("{} is neither file, directory nor link: move it away first", path));
    }
    if (state->kind == PathKind::file) {
        if (auto kept = preserve_content(context, path, state->digest); !kept) {
            return std::unexpected(kept.error());
        }
    }
    return image_of(*state);
}

bool is_private(const Context& context, const PathState& state) {
    return state.kind == PathKind::file && (state.mode & S_IROTH) == 0 && !context.previous;
}

Result<std::string> restore_path(Context& context, const std::string& path,
                                 const PathPreImage& image) {
    if (auto cleaned = remove_leftovers(context.root, path); !cleaned) {
        return std::unexpected(cleaned.error());
    }
    if (image.kind == "absent") return remove_ours(context, path);
    auto untouched = was_never_ours(context, path, image);
    if (!untouched) return std::unexpected(untouched.error());
    if (*untouched) return std::string();
    auto attributes = attributes_of(image);
    if (!attributes) return std::unexpected(attributes.error());
    Result<> done = fail(Code::corrupt, "pre-image of " + path + " has no known kind");
    if (image.kind == "file") done = restore_file(context, path, image, *attributes);
    if (image.kind == "directory") done = restore_directory(context, path, *attributes);
    if (image.kind == "symlink") {
        done = replace_symlink(context.root, path, image.target, *attributes);
    }
    if (!done) return std::unexpected(done.error());
    return std::string();
}

Result<std::string> restore_image(Context& context, const std::string& path,
                                  const PreImage& image) {
    auto before = image_as<PathPreImage>(image);
    if (!before) return std::unexpected(before.error());
    return restore_path(context, path, *before);
}

}  // namespace kubexm::executor::kinds
