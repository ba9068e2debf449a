#include "daemon/executor/journal/lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string>
#include <tuple>

namespace kubexm::executor::journal {

namespace {

constexpr const char* kLockFile = "journal.lock";
constexpr mode_t kOwnersLock = 0600;

/// Who the file says holds it, for a message.
std::string holder(int fd) {
    std::array<char, 16> text{};
    const ssize_t size = ::pread(fd, text.data(), text.size(), 0);
    pid_t pid = 0;
    const char* end = text.data() + std::max<ssize_t>(size, 0);
    if (std::from_chars(text.data(), end, pid).ec != std::errc{}) return "another process";
    return fmt::format("process {}", pid);
}

/// For the message of whoever comes next. Where the disk is full they will not read who we are:
/// that is no reason to refuse.
void sign(int fd) {
    const std::string pid = fmt::format("{}\n", ::getpid());
    if (::ftruncate(fd, 0) == 0) std::ignore = ::pwrite(fd, pid.data(), pid.size(), 0);
}

}  // namespace

Result<ProcessLock> ProcessLock::take(const Directory& directory) {
    const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
    Fd fd{::openat(directory.fd(), kLockFile, flags, kOwnersLock)};
    if (!fd) return from_errno("open", directory.path_of(kLockFile));
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) {
        sign(fd.get());
        return ProcessLock{std::move(fd)};
    }
    if (errno != EWOULDBLOCK) return from_errno("lock", directory.path_of(kLockFile));
    return fail(Code::conflict, fmt::format("{}: is in use by {}; only one may", directory.path(),
                                            holder(fd.get())));
}

}  // namespace kubexm::executor::journal
