#include "daemon/base/process_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <tuple>

namespace kubexm {

namespace {

/// The process id that the holder wrote into the file.
std::string holder(int fd) {
    std::array<char, 16> text{};
    const ssize_t size = ::pread(fd, text.data(), text.size(), 0);
    pid_t pid = 0;
    const char* end = text.data() + std::max<ssize_t>(size, 0);
    if (std::from_chars(text.data(), end, pid).ec != std::errc{}) return "another process";
    return fmt::format("process {}", pid);
}

/// For the message of the next process. A full disk is no reason to refuse the lock.
void write_process_id(int fd) {
    const std::string pid = fmt::format("{}\n", ::getpid());
    if (::ftruncate(fd, 0) == 0) std::ignore = ::pwrite(fd, pid.data(), pid.size(), 0);
}

}  // namespace

Result<ProcessLock> ProcessLock::take(const StateDirectory& directory, const std::string& file) {
    constexpr mode_t kOwnerOnly = 0600;
    Fd fd{::openat(directory.fd(), file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                   kOwnerOnly)};
    if (!fd) return from_errno("open", directory.path_of(file));
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) {
        write_process_id(fd.get());
        return ProcessLock{std::move(fd)};
    }
    if (errno != EWOULDBLOCK) return from_errno("lock", directory.path_of(file));
    return fail(Code::conflict,
                fmt::format("{}: in use by {}; stop that process first, or configure another state "
                            "directory",
                            directory.path(), holder(fd.get())));
}

}  // namespace kubexm
