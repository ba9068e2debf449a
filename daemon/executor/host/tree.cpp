#include "daemon/executor/host/tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <expected>
#include <memory>
#include <utility>

namespace kubexm::executor {

namespace {

constexpr std::size_t kOpenLevels = 16;
constexpr int kMaxRepeats = 10;  // who fills a directory faster than this is not done with it
constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

struct CloseDirectory {
    void operator()(DIR* stream) const { ::closedir(stream); }
};
using Stream = std::unique_ptr<DIR, CloseDirectory>;

/// An own descriptor for the stream, which reads from the beginning.
Stream read_directory(int fd) {
    Fd copy{::fcntl(fd, F_DUPFD_CLOEXEC, 0)};
    Stream stream{copy ? ::fdopendir(copy.get()) : nullptr};
    if (!stream) return stream;
    copy.release();
    ::rewinddir(stream.get());
    return stream;
}

/// `name` in a directory, or with "" the directory itself; else the errno.
std::expected<Identity, int> identity_of(int directory, const std::string& name) {
    constexpr int flags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
    constexpr unsigned mask = STATX_TYPE | STATX_INO | STATX_MNT_ID;
    struct statx seen{};
    if (::statx(directory, name.c_str(), flags, mask, &seen) != 0) return std::unexpected(errno);
    // Before Linux 5.8 mounts of one file system cannot be told apart, and nothing is deleted.
    if ((seen.stx_mask & STATX_MNT_ID) == 0) return std::unexpected(EOPNOTSUPP);
    return Identity{
        .mount = seen.stx_mnt_id,
        .device = ::makedev(seen.stx_dev_major, seen.stx_dev_minor),
        .inode = seen.stx_ino,
        .directory = S_ISDIR(seen.stx_mode),
        .fixed = (seen.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) != 0};
}

}  // namespace

Result<> TreeWalk::run(const Place& place) {
    here_ = place.asked.substr(0, place.asked.rfind('/'));
    frames_.clear();
    Fd parent{::fcntl(place.parent.get(), F_DUPFD_CLOEXEC, 0)};
    if (!parent) return from_errno("open", directory_path());
    const auto identity = identity_of(parent.get(), "");
    if (!identity) return from_errno("identify", directory_path(), identity.error());
    frames_.push_back({.fd = std::move(parent), .identity = *identity});
    if (auto met = offer(place.leaf); !met) return met;
    while (frames_.size() > 1 || !frames_.back().todo.empty()) {
        if (auto done = next(); !done) return done;
    }
    return {};
}

Result<> TreeWalk::next() {
    auto& todo = frames_.back().todo;
    if (todo.empty()) return ascend();
    const std::string name = std::move(todo.back());
    todo.pop_back();
    return descend(name);
}

Result<> TreeWalk::offer(const std::string& name) {
    const auto down = meet(name);
    if (!down) return std::unexpected(down.error());
    if (*down) frames_.back().todo.push_back(name);
    return {};
}

Result<> TreeWalk::descend(const std::string& name) {
    Fd fd{::openat(directory(), name.c_str(), kDirectory)};
    if (!fd && errno == ENOENT) return {};
    if (!fd && (errno == ELOOP || errno == ENOTDIR)) {
        return fail(Code::conflict, path_of(name) + " is no directory any more");
    }
    if (!fd) return from_errno("open", path_of(name));
    // What was opened counts: since the name was met it may have become a mount.
    const auto identity = identity_of(fd.get(), "");
    if (!identity) return from_errno("identify", path_of(name), identity.error());
    if (auto good = check_mount(*identity, name); !good) return good;
    frames_.push_back({.fd = std::move(fd), .identity = *identity, .name = name});
    here_ += "/" + name;
    if (frames_.size() > kOpenLevels) frames_[frames_.size() - 1 - kOpenLevels].fd.reset();
    return scan();
}

Result<> TreeWalk::scan() {
    const Stream stream = read_directory(directory());
    if (!stream) return from_errno("read", directory_path());
    for (;;) {
        errno = 0;
        const dirent* entry = ::readdir(stream.get());  // NOLINT(concurrency-mt-unsafe): own stream
        if (entry == nullptr && errno != 0) return from_errno("read", directory_path());
        if (entry == nullptr) return {};
        const std::string name = entry->d_name;
        if (name == "." || name == "..") continue;
        if (auto met = offer(name); !met) return met;
    }
}

Result<> TreeWalk::ascend() {
    if (auto done = reopen_parent(); !done) return done;
    const std::string name = std::move(frames_.back().name);
    frames_.pop_back();
    here_.resize(here_.size() - name.size() - 1);
    const auto done = leave(name);
    if (!done) return std::unexpected(done.error());
    Frame& frame = frames_.back();
    if (!*done) frame.todo.push_back(name);
    frame.repeats = *done ? 0 : frame.repeats + 1;
    if (frame.repeats <= kMaxRepeats) return {};
    return fail(Code::conflict, path_of(name) + " is filled again and again: stop who does it");
}

Result<> TreeWalk::reopen_parent() {
    Frame& parent = frames_[frames_.size() - 2];
    if (parent.fd) return {};
    parent.fd = Fd{::openat(directory(), "..", kDirectory)};
    if (!parent.fd) return from_errno("open the parent of", directory_path());
    const auto identity = identity_of(parent.fd.get(), "");
    if (!identity) return from_errno("identify the parent of", directory_path(), identity.error());
    if (identity->same_object(parent.identity)) return {};
    return fail(Code::conflict, directory_path() + " was moved while it was walked");
}

Result<> TreeWalk::check_mount(const Identity& identity, const std::string& name) const {
    const Identity& top = frames_.front().identity;
    // A file on an overlay may report the device of a layer; directories do not.
    const bool foreign_device = identity.directory && identity.device != top.device;
    if (identity.mount == top.mount && !foreign_device) return {};
    return fail(Code::denied, path_of(name) + " is a mount point: unmount it first");
}

Result<Identity> TreeWalk::identify(const std::string& name) const {
    const auto identity = identity_of(directory(), name);
    if (!identity) return from_errno("identify", path_of(name), identity.error());
    if (auto good = check_mount(*identity, name); !good) return std::unexpected(good.error());
    return *identity;
}

}  // namespace kubexm::executor
