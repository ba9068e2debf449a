#include "daemon/executor/host/tree.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <expected>
#include <utility>

#include "daemon/base/io.hpp"
#include "daemon/base/refusal.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::executor {

namespace {

constexpr std::size_t kOpenLevels = 16;
constexpr int kMaxRepeats = 10;  // of a directory that is filled during its removal

/// Of `name` in a directory, or with "" of the directory itself. Error: the errno.
std::expected<FileIdentity, int> identity_of(int directory, const std::string& name) {
    constexpr int flags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
    constexpr unsigned mask = STATX_TYPE | STATX_INO | STATX_MNT_ID;
    struct statx status{};
    if (::statx(directory, name.c_str(), flags, mask, &status) != 0) return std::unexpected(errno);
    // Linux before 5.8 cannot distinguish mounts of one file system: nothing is deleted.
    if ((status.stx_mask & STATX_MNT_ID) == 0) return std::unexpected(EOPNOTSUPP);
    return FileIdentity{
        .mount = status.stx_mnt_id,
        .device = ::makedev(status.stx_dev_major, status.stx_dev_minor),
        .inode = status.stx_ino,
        .directory = S_ISDIR(status.stx_mode),
        .immutable = (status.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) != 0};
}

}  // namespace

Result<> TreeWalk::run(const Place& place) {
    path_ = place.requested.substr(0, place.requested.rfind('/'));
    frames_.clear();
    Fd parent{::fcntl(place.parent.get(), F_DUPFD_CLOEXEC, 0)};
    if (!parent) return from_errno("open", directory_path());
    const auto identity = identity_of(parent.get(), "");
    if (!identity) return from_errno("identify", directory_path(), identity.error());
    frames_.push_back({.fd = std::move(parent), .identity = *identity});
    TRY(visit_child(place.leaf));
    while (frames_.size() > 1 || !frames_.back().pending.empty()) TRY(next());
    return {};
}

Result<> TreeWalk::next() {
    auto& pending = frames_.back().pending;
    if (pending.empty()) return ascend();
    const std::string name = std::move(pending.back());
    pending.pop_back();
    return descend(name);
}

Result<> TreeWalk::visit_child(const std::string& name) {
    const bool descend_later = TRY(visit(name));
    if (descend_later) frames_.back().pending.push_back(name);
    return {};
}

Result<> TreeWalk::descend(const std::string& name) {
    Fd fd{::openat(directory(), name.c_str(), kOpenDirectory)};
    if (!fd && errno == ENOENT) return {};
    if (!fd && (errno == ELOOP || errno == ENOTDIR)) {
        return fail(Code::conflict, path_of(name) + " is no longer a directory");
    }
    if (!fd) return from_errno("open", path_of(name));
    // Checked again: it may have become a mount point since the visit.
    const auto identity = identity_of(fd.get(), "");
    if (!identity) return from_errno("identify", path_of(name), identity.error());
    TRY(check_mount(*identity, name));
    frames_.push_back({.fd = std::move(fd), .identity = *identity, .name = name});
    path_ += "/" + name;
    if (frames_.size() > kOpenLevels) frames_[frames_.size() - 1 - kOpenLevels].fd.reset();
    return scan();
}

Result<> TreeWalk::scan() {
    Fd copy{::fcntl(directory(), F_DUPFD_CLOEXEC, 0)};
    if (!copy) return from_errno("read", directory_path());
    return each_entry(std::move(copy), directory_path(),
                      [&](const std::string& name) { return visit_child(name); });
}

Result<> TreeWalk::ascend() {
    TRY(reopen_parent());
    const std::string name = std::move(frames_.back().name);
    frames_.pop_back();
    path_.resize(path_.size() - name.size() - 1);
    const bool finished = TRY(leave(name));
    Frame& frame = frames_.back();
    if (!finished) frame.pending.push_back(name);
    frame.repeats = finished ? 0 : frame.repeats + 1;
    if (frame.repeats <= kMaxRepeats) return {};
    return fail(
        Code::conflict,
        path_of(name) + " is filled while it is removed; stop the process that writes to it");
}

Result<> TreeWalk::reopen_parent() {
    Frame& parent = frames_[frames_.size() - 2];
    if (parent.fd) return {};
    parent.fd = Fd{::openat(directory(), "..", kOpenDirectory)};
    if (!parent.fd) return from_errno("open the parent of", directory_path());
    const auto identity = identity_of(parent.fd.get(), "");
    if (!identity) return from_errno("identify the parent of", directory_path(), identity.error());
    if (identity->same_object(parent.identity)) return {};
    return fail(Code::conflict, directory_path() + " was moved during the traversal");
}

Result<> TreeWalk::check_mount(const FileIdentity& identity, const std::string& name) const {
    const FileIdentity& top = frames_.front().identity;
    // On an overlay a file may report the device of a layer; a directory does not.
    const bool foreign_device = identity.directory && identity.device != top.device;
    if (identity.mount == top.mount && !foreign_device) return {};
    return refusal("mounts", Code::denied, path_of(name) + " is a mount point: unmount it first");
}

Result<FileIdentity> TreeWalk::identify(const std::string& name) const {
    const auto identity = identity_of(directory(), name);
    if (!identity) return from_errno("identify", path_of(name), identity.error());
    TRY(check_mount(*identity, name));
    return *identity;
}

}  // namespace kubexm::executor
