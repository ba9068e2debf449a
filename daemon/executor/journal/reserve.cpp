#include "daemon/executor/journal/reserve.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdint>

#include "daemon/base/fd.hpp"

namespace kubexm::executor {

namespace {

constexpr off_t kReserved = off_t{1} << 20U;               // some hundred commits
constexpr std::uint64_t kFree = std::uint64_t{16} << 20U;  // else it would help to fill the disk

bool has_space(int file) {
    struct statvfs disk{};
    return ::fstatvfs(file, &disk) == 0 && std::uint64_t{disk.f_bavail} * disk.f_frsize >= kFree;
}

}  // namespace

void Reserve::keep() const {
    const Fd file{
        ::open(path_.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600)};
    struct stat now{};
    if (!file || ::fstat(file.get(), &now) != 0 || now.st_size == kReserved) return;
    const bool kept = has_space(file.get()) && ::posix_fallocate(file.get(), 0, kReserved) == 0;
    if (!kept) ::unlink(path_.c_str());
}

bool Reserve::drop() const { return ::unlink(path_.c_str()) == 0; }

}  // namespace kubexm::executor
