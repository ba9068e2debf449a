#include "daemon/base/state_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <tuple>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/io.hpp"
#include "daemon/base/try.hpp"

namespace kubexm {

namespace {

constexpr mode_t kOwnersFile = 0600;

}  // namespace

Result<StateDirectory> StateDirectory::open(const std::string& path) {
    Fd fd{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!fd) return from_errno("open", path);
    return StateDirectory{std::move(fd), path};
}

std::string StateDirectory::path_of(std::string_view name) const {
    return path_ + "/" + std::string(name);
}

Result<bool> StateDirectory::has(const std::string& name) const {
    struct stat status{};
    if (::fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return true;
    if (errno == ENOENT) return false;
    return from_errno("stat", path_of(name));
}

Result<std::vector<std::string>> StateDirectory::entries() const {
    // A descriptor of its own, since a directory stream uses the position of its descriptor.
    Fd fd{::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!fd) return from_errno("open", path_);
    std::vector<std::string> names;
    TRY(each_entry(std::move(fd), path_, [&](const std::string& name) -> Result<> {
        names.push_back(name);
        return {};
    }));
    return names;
}

Result<Fd> StateDirectory::create(const std::string& name) const {
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    Fd fd{::openat(fd_.get(), name.c_str(), flags, kOwnersFile)};
    if (!fd) return from_errno("create", path_of(name));
    return fd;
}

Result<Fd> StateDirectory::read(const std::string& name) const {
    // Without O_NONBLOCK a FIFO would block.
    Fd fd{::openat(fd_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    if (!fd) return from_errno("open", path_of(name));
    return fd;
}

Result<> StateDirectory::link(const std::string& from, const std::string& to) const {
    if (::linkat(fd_.get(), from.c_str(), fd_.get(), to.c_str(), 0) == 0) return {};
    return from_errno("link", path_of(from));
}

Result<> StateDirectory::rename(const std::string& from, const std::string& to) const {
    if (::renameat(fd_.get(), from.c_str(), fd_.get(), to.c_str()) == 0) return {};
    return from_errno("rename", path_of(from));
}

Result<> StateDirectory::remove(const std::string& name) const {
    if (::unlinkat(fd_.get(), name.c_str(), 0) == 0 || errno == ENOENT) return {};
    return from_errno("remove", path_of(name));
}

Result<> StateDirectory::sync() const {
    if (::fsync(fd_.get()) == 0) return {};
    return from_errno("sync", path_);
}

Result<> StateDirectory::replace(const std::string& name, std::string_view content) const {
    const std::string temporary = name + std::string(kUnfinished);
    TRY(remove(temporary));  // of a writer that was killed
    const Fd file = TRY(create(temporary));
    TRY(write_all(file.get(), content, path_of(temporary)));
    if (::fsync(file.get()) != 0) return from_errno("fsync", path_of(temporary));
    crash_point("replace.rename.before");
    TRY(rename(temporary, name));
    crash_point("replace.rename.after");
    return sync();
}

}  // namespace kubexm
