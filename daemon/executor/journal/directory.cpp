#include "daemon/executor/journal/directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <tuple>

namespace kubexm::executor::journal {

namespace {

constexpr mode_t kOwnersFile = 0600;

struct CloseDirectory {
    void operator()(DIR* stream) const { ::closedir(stream); }
};

}  // namespace

Result<Directory> Directory::open(const std::string& path) {
    Fd fd{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!fd) return from_errno("open", path);
    return Directory{std::move(fd), path};
}

std::string Directory::path_of(std::string_view name) const {
    return path_ + "/" + std::string(name);
}

Result<bool> Directory::has(const std::string& name) const {
    struct stat status{};
    if (::fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return true;
    if (errno == ENOENT) return false;
    return from_errno("look for", path_of(name));
}

Result<std::vector<std::string>> Directory::entries() const {
    // A descriptor of its own: the position of a directory stream is that of its descriptor.
    Fd fd{::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!fd) return from_errno("open", path_);
    const std::unique_ptr<DIR, CloseDirectory> stream{::fdopendir(fd.get())};
    if (!stream) return from_errno("read", path_);
    std::ignore = fd.release();
    std::vector<std::string> names;
    for (;;) {
        errno = 0;
        // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone
        const dirent* entry = ::readdir(stream.get());
        if (entry == nullptr && errno != 0) return from_errno("read", path_);
        if (entry == nullptr) return names;
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
}

Result<Fd> Directory::create(const std::string& name) const {
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    Fd fd{::openat(fd_.get(), name.c_str(), flags, kOwnersFile)};
    if (!fd) return from_errno("create", path_of(name));
    return fd;
}

Result<Fd> Directory::read(const std::string& name) const {
    // Without O_NONBLOCK a FIFO in this place would hold us for ever.
    Fd fd{::openat(fd_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    if (!fd) return from_errno("open", path_of(name));
    return fd;
}

Result<> Directory::link(const std::string& from, const std::string& to) const {
    if (::linkat(fd_.get(), from.c_str(), fd_.get(), to.c_str(), 0) == 0) return {};
    return from_errno("link", path_of(from));
}

Result<> Directory::rename(const std::string& from, const std::string& to) const {
    if (::renameat(fd_.get(), from.c_str(), fd_.get(), to.c_str()) == 0) return {};
    return from_errno("rename", path_of(from));
}

Result<> Directory::remove(const std::string& name) const {
    if (::unlinkat(fd_.get(), name.c_str(), 0) == 0 || errno == ENOENT) return {};
    return from_errno("remove", path_of(name));
}

Result<> Directory::sync() const {
    if (::fsync(fd_.get()) == 0) return {};
    return from_errno("sync", path_);
}

}  // namespace kubexm::executor::journal
