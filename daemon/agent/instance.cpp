#include "daemon/agent/instance.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

namespace kubexm::agent {

namespace {

/// A lock of the process: the kernel tells who has it, no file has to.
struct flock whole_file() { return {.l_type = F_WRLCK, .l_whence = SEEK_SET}; }

std::unexpected<Error> in_use(int fd, const std::string& path) {
    struct flock holder = whole_file();
    const bool known = ::fcntl(fd, F_GETLK, &holder) == 0 && holder.l_pid > 0;
    return fail(
        Code::conflict,
        fmt::format("{} is in use by {}: stop it first, or give this one another state "
                    "directory",
                    path, known ? fmt::format("process {}", holder.l_pid) : "another kubexmd"));
}

}  // namespace

Result<Fd> become_only_instance(const std::string& state_directory) {
    const std::string path = state_directory + "/kubexmd.lock";
    Fd file{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (!file) return from_errno("open", path);
    struct flock lock = whole_file();
    if (::fcntl(file.get(), F_SETLK, &lock) == 0) return file;
    if (errno == EAGAIN || errno == EACCES) return in_use(file.get(), path);
    return from_errno("lock", path);
}

}  // namespace kubexm::agent
