#include "daemon/executor/host/durable.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/io.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::executor {

Result<> write_content(int fd, std::string_view bytes, std::string_view object) {
    crash_point("file.write.before");
    TRY(write_all(fd, bytes, object));
    crash_point("file.write.after");
    return {};
}

Result<> sync_file(int fd, std::string_view object) {
    crash_point("file.fsync.before");
    if (::fsync(fd) != 0) return from_errno("fsync", object);
    crash_point("file.fsync.after");
    return {};
}

Result<> sync_directory(int fd, std::string_view object) {
    crash_point("dir.fsync.before");
    if (::fsync(fd) != 0) return from_errno("fsync the directory of", object);
    crash_point("dir.fsync.after");
    return {};
}

Result<> sync_filesystem(int fd, std::string_view object) {
    crash_point("filesystem.sync.before");
    if (::syncfs(fd) != 0) return from_errno("sync the file system of", object);
    crash_point("filesystem.sync.after");
    return {};
}

Result<> rename_within(int directory, const std::string& from, const std::string& to,
                       std::string_view object) {
    crash_point("file.rename.before");
    if (::renameat(directory, from.c_str(), directory, to.c_str()) != 0) {
        return from_errno("rename to", object);
    }
    crash_point("file.rename.after");
    return {};
}

Result<> make_private_directory(int parent, const std::string& name, std::string_view object) {
    crash_point("dir.make.before");
    if (::mkdirat(parent, name.c_str(), 0700) != 0 && errno != EEXIST) {
        return from_errno("make directory", object);
    }
    crash_point("dir.make.after");
    return {};
}

Result<> make_symlink(int parent, const std::string& name, const std::string& target,
                      std::string_view object) {
    crash_point("link.make.before");
    if (::symlinkat(target.c_str(), parent, name.c_str()) != 0) {
        return from_errno("make symbolic link", object);
    }
    crash_point("link.make.after");
    return {};
}

std::expected<bool, int> unlink_unless_directory(int parent, const std::string& name) {
    crash_point("file.unlink.before");
    if (::unlinkat(parent, name.c_str(), 0) != 0 && errno != ENOENT) {
        if (errno == EISDIR) return false;
        return std::unexpected(errno);
    }
    crash_point("file.unlink.after");
    return true;
}

std::expected<bool, int> remove_empty_directory(int parent, const std::string& name) {
    crash_point("dir.remove.before");
    if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
        if (errno == ENOTEMPTY || errno == EEXIST) return false;
        return std::unexpected(errno);
    }
    crash_point("dir.remove.after");
    return true;
}

}  // namespace kubexm::executor
