#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <climits>
#include <utility>

#include "daemon/base/digest.hpp"
#include "daemon/base/io.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/host/attributes.hpp"
#include "daemon/executor/host/files.hpp"
#include "daemon/executor/host/place.hpp"

namespace kubexm::executor {

namespace {

PathKind kind_of(mode_t mode) {
    if (S_ISREG(mode)) return PathKind::file;
    if (S_ISDIR(mode)) return PathKind::directory;
    if (S_ISLNK(mode)) return PathKind::symlink;
    return PathKind::other;
}

/// Empty: the file is larger than the limit. Checks the size first: a sparse file can have any
/// size.
Result<std::string> digest_of(int pinned, const ReadLimit& limit, std::string_view object) {
    const auto status = TRY(status_of(pinned, object));
    if (static_cast<std::uint64_t>(status.st_size) > limit.bytes) return std::string();
    const auto file = TRY(reopen(pinned, O_RDONLY, object));
    Sha256 digest;
    WipedBuffer buffer;
    for (std::uint64_t left = limit.bytes;;) {
        TRY(in_time(limit.deadline, object));
        const auto bytes = TRY(buffer.read(file.get(), object));
        if (bytes.empty()) return digest.finish();
        if (bytes.size() > left) return std::string();
        left -= bytes.size();
        digest.update(bytes);
    }
}

Result<std::string> target_of(int pinned, std::string_view object) {
    std::string target(PATH_MAX, '\0');
    const ssize_t size = ::readlinkat(pinned, "", target.data(), target.size());
    if (size < 0) return from_errno("read the link", object);
    target.resize(static_cast<std::size_t>(size));
    return target;
}

/// The target of a symbolic link; with a limit the digest of a file.
Result<> add_content(PathState& state, int pinned, const ReadLimit* limit,
                     std::string_view object) {
    const bool file = state.kind == PathKind::file && limit != nullptr;
    if (!file && state.kind != PathKind::symlink) return {};
    std::string& content = file ? state.digest : state.target;
    content = TRY(file ? digest_of(pinned, *limit, object) : target_of(pinned, object));
    return {};
}

Result<PathState> state_of(int pinned, const ReadLimit* limit, std::string_view object) {
    const auto status = TRY(status_of(pinned, object));
    PathState state{.kind = kind_of(status.st_mode),
                    .mode = status.st_mode & 07777U,
                    .uid = status.st_uid,
                    .gid = status.st_gid};
    if (state.kind == PathKind::file) state.links = status.st_nlink;
    TRY(add_content(state, pinned, limit, object));
    state.xattrs = TRY(read_xattrs(pinned, object));
    return state;
}

/// denied: a symbolic link. conflict: another kind of object.
Result<> check_regular(int pinned, std::string_view object) {
    const auto status = TRY(status_of(pinned, object));
    if (S_ISREG(status.st_mode)) return {};
    if (S_ISLNK(status.st_mode)) return symlink_denied(object);
    return fail(Code::conflict, fmt::format("{} is not a regular file", object));
}

Result<std::string> read_up_to(int file, std::size_t limit, std::string_view object) {
    std::string content;
    WipedBuffer buffer;
    for (;;) {
        const auto bytes = TRY(buffer.read(file, object));
        if (bytes.empty()) return content;
        if (bytes.size() > limit - content.size()) {
            return fail(Code::exhausted,
                        fmt::format("{}: expected at most {} bytes", object, limit));
        }
        content += bytes;
    }
}

/// Reads no content without a limit.
Result<PathState> inspect_within(const Root& root, const std::string& path,
                                 const ReadLimit* limit) {
    const auto place = TRY(find_place(root, path));
    auto object = pin(place);
    if (!object && object.error().code == Code::not_found) return PathState{};
    const Fd pinned = TRY(std::move(object));
    return state_of(pinned.get(), limit, place.path);
}

}  // namespace

Result<> in_time(Deadline deadline, std::string_view object) {
    if (std::chrono::steady_clock::now() < deadline) return {};
    return fail(Code::timeout,
                fmt::format("{}: the deadline of the step passed; retry to continue", object));
}

Result<PathState> inspect(const Root& root, const std::string& path) {
    return inspect_within(root, path, nullptr);
}

Result<PathState> inspect_content(const Root& root, const std::string& path,
                                  const ReadLimit& limit) {
    return inspect_within(root, path, &limit);
}

Result<Fd> open_file(const Root& root, const std::string& path) {
    const auto place = TRY(find_place(root, path));
    const auto object = TRY(pin(place));
    TRY(check_regular(object.get(), place.path));
    return reopen(object.get(), O_RDONLY, place.path);
}

Result<std::string> read_file(const Root& root, const std::string& path, std::size_t limit) {
    const auto file = TRY(open_file(root, path));
    return read_up_to(file.get(), limit, shown(path));
}

}  // namespace kubexm::executor
