// Looking at what is there.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <climits>

#include "daemon/base/digest.hpp"
#include "daemon/executor/host/attributes.hpp"
#include "daemon/executor/host/files.hpp"
#include "daemon/executor/host/place.hpp"
#include "daemon/executor/host/reading.hpp"

namespace kubexm::executor {

namespace {

PathKind kind_of(mode_t mode) {
    if (S_ISREG(mode)) return PathKind::file;
    if (S_ISDIR(mode)) return PathKind::directory;
    if (S_ISLNK(mode)) return PathKind::symlink;
    return PathKind::other;
}

std::unexpected<Error> too_large(std::string_view object, std::uint64_t limit) {
    return fail(Code::exhausted,
                fmt::format("{} has more than the {} bytes that are read", object, limit));
}

/// The size is looked at first: whoever may make a file may make a sparse one of any size.
Result<Fd> open_within(int pinned, const Effort& effort, std::string_view object) {
    const auto seen = status_of(pinned, object);
    if (!seen) return std::unexpected(seen.error());
    if (static_cast<std::uint64_t>(seen->st_size) > effort.bytes) {
        return too_large(object, effort.bytes);
    }
    return reopen(pinned, O_RDONLY, object);
}

Result<std::string> digest_of(int pinned, const Effort& effort, std::string_view object) {
    const auto file = open_within(pinned, effort, object);
    if (!file) return std::unexpected(file.error());
    Sha256 digest;
    WipedBuffer buffer;
    for (std::uint64_t left = effort.bytes;;) {
        if (auto good = in_time(effort.deadline, object); !good) {
            return std::unexpected(good.error());
        }
        const auto bytes = read_some(file->get(), buffer.bytes, object);
        if (!bytes) return std::unexpected(bytes.error());
        if (bytes->empty()) return digest.finish();
        if (bytes->size() > left) return too_large(object, effort.bytes);
        left -= bytes->size();
        digest.update(*bytes);
    }
}

Result<std::string> target_of(int pinned, std::string_view object) {
    std::string target(PATH_MAX, '\0');
    const ssize_t size = ::readlinkat(pinned, "", target.data(), target.size());
    if (size < 0) return from_errno("read the link", object);
    target.resize(static_cast<std::size_t>(size));
    return target;
}

/// What the object holds: the digest of a file's content, if it shall be read; the target of a
/// link.
Result<> add_content(PathState& state, int pinned, const Effort* effort, std::string_view object) {
    const bool file = state.kind == PathKind::file && effort != nullptr;
    if (!file && state.kind != PathKind::symlink) return {};
    auto content = file ? digest_of(pinned, *effort, object) : target_of(pinned, object);
    if (!content) return std::unexpected(content.error());
    (file ? state.digest : state.target) = *std::move(content);
    return {};
}

Result<PathState> state_of(int pinned, const Effort* effort, std::string_view object) {
    const auto seen = status_of(pinned, object);
    if (!seen) return std::unexpected(seen.error());
    PathState state{.kind = kind_of(seen->st_mode),
                    .mode = seen->st_mode & 07777U,
                    .uid = seen->st_uid,
                    .gid = seen->st_gid};
    if (state.kind == PathKind::file) state.links = seen->st_nlink;
    if (auto done = add_content(state, pinned, effort, object); !done) {
        return std::unexpected(done.error());
    }
    auto xattrs = read_xattrs(pinned, object);
    if (!xattrs) return std::unexpected(xattrs.error());
    state.xattrs = *std::move(xattrs);
    return state;
}

/// denied: a link. conflict: neither file nor link.
Result<> check_regular(int pinned, std::string_view object) {
    const auto seen = status_of(pinned, object);
    if (!seen) return std::unexpected(seen.error());
    if (S_ISREG(seen->st_mode)) return {};
    if (S_ISLNK(seen->st_mode)) return link_in_the_way(object);
    return fail(Code::conflict, fmt::format("{} is not a regular file", object));
}

Result<std::string> read_up_to(int file, std::size_t limit, std::string_view object) {
    std::string content;
    WipedBuffer buffer;
    for (;;) {
        const auto bytes = read_some(file, buffer.bytes, object);
        if (!bytes) return std::unexpected(bytes.error());
        if (bytes->empty()) return content;
        if (bytes->size() > limit - content.size()) return too_large(object, limit);
        content += *bytes;
    }
}

/// Without an effort no content is read.
Result<PathState> look(const Root& root, const std::string& path, const Effort* effort) {
    const auto place = find_place(root, path);
    if (!place) return std::unexpected(place.error());
    const auto object = pin(*place);
    if (!object && object.error().code == Code::not_found) return PathState{};
    if (!object) return std::unexpected(object.error());
    return state_of(object->get(), effort, place->path);
}

}  // namespace

Result<> in_time(std::chrono::steady_clock::time_point deadline, std::string_view object) {
    if (std::chrono::steady_clock::now() < deadline) return {};
    return fail(Code::timeout,
                fmt::format("{}: it took longer than a step may: try again, what was done stays so",
                            object));
}

Result<PathState> inspect(const Root& root, const std::string& path) {
    return look(root, path, nullptr);
}

Result<PathState> inspect_content(const Root& root, const std::string& path, const Effort& effort) {
    return look(root, path, &effort);
}

Result<Fd> open_file(const Root& root, const std::string& path) {
    const auto place = find_place(root, path);
    if (!place) return std::unexpected(place.error());
    const auto object = pin(*place);
    if (!object) return std::unexpected(object.error());
    if (auto good = check_regular(object->get(), place->path); !good) {
        return std::unexpected(good.error());
    }
    return reopen(object->get(), O_RDONLY, place->path);
}

Result<std::string> read_file(const Root& root, const std::string& path, std::size_t limit) {
    const auto file = open_file(root, path);
    if (!file) return std::unexpected(file.error());
    return read_up_to(file->get(), limit, shown(path));
}

}  // namespace kubexm::executor
