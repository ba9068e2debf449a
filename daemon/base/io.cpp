#include "daemon/base/io.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <tuple>

#include "daemon/base/secret.hpp"
#include "daemon/base/try.hpp"

namespace kubexm {

namespace {

struct CloseDirectory {
    void operator()(DIR* stream) const { ::closedir(stream); }
};

}  // namespace

WipedBuffer::~WipedBuffer() { wipe(bytes_); }

Result<std::string_view> WipedBuffer::read(int fd, std::string_view name) {
    for (;;) {
        const ssize_t size = ::read(fd, bytes_.data(), bytes_.size());
        if (size >= 0) return std::string_view(bytes_.data(), static_cast<std::size_t>(size));
        if (errno != EINTR) return from_errno("read", name);
    }
}

Result<std::string> read_rest(int fd, std::string_view name, std::size_t limit) {
    std::string bytes;
    struct stat status{};
    // In one piece: growing would leave copies of a secret in memory.
    if (::fstat(fd, &status) == 0 && status.st_size > 0) {
        bytes.reserve(std::min(limit, static_cast<std::size_t>(status.st_size)) + 1);
    }
    WipedBuffer buffer;
    while (bytes.size() <= limit) {
        const auto next = TRY(buffer.read(fd, name));
        if (next.empty()) return bytes;
        bytes += next;
    }
    return fail(Code::invalid, fmt::format("{}: expected at most {} bytes", name, limit));
}

Result<> write_all(int fd, std::string_view bytes, std::string_view name) {
    while (!bytes.empty()) {
        const ssize_t size = ::write(fd, bytes.data(), bytes.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return from_errno("write", name);
        bytes.remove_prefix(static_cast<std::size_t>(size));
    }
    return {};
}

Result<Fd> open_regular(const std::string& path) {
    Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    if (!fd) return from_errno("open", path);
    struct stat status{};
    if (::fstat(fd.get(), &status) != 0) return from_errno("stat", path);
    if (!S_ISREG(status.st_mode)) return fail(Code::invalid, path + ": expected a regular file");
    return fd;
}

Result<std::string> read_file(const std::string& path, std::size_t limit) {
    const Fd fd = TRY(open_regular(path));
    return read_rest(fd.get(), path, limit);
}

Result<Fd> memory_file(std::string_view bytes) {
    constexpr std::string_view kName = "file in memory";
    Fd file(::memfd_create("kubexm", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!file) return from_errno("memfd_create", kName);
    TRY(write_all(file.get(), bytes, kName));
    if (::lseek(file.get(), 0, SEEK_SET) != 0) return from_errno("seek", kName);
    constexpr int kSeals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
    if (::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) return from_errno("seal", kName);
    return file;
}

Result<> each_entry(Fd directory, std::string_view name,
                    const std::function<Result<>(const std::string& entry)>& each) {
    const std::unique_ptr<DIR, CloseDirectory> stream{::fdopendir(directory.get())};
    if (!stream) return from_errno("read", name);
    std::ignore = directory.release();  // the stream closes it
    ::rewinddir(stream.get());
    for (;;) {
        errno = 0;
        const dirent* entry = ::readdir(stream.get());  // NOLINT(concurrency-mt-unsafe): own stream
        if (entry == nullptr && errno != 0) return from_errno("read", name);
        if (entry == nullptr) return {};
        const std::string found = entry->d_name;
        if (found != "." && found != "..") TRY(each(found));
    }
}

Result<std::string> read_whole(int fd, std::string_view name, std::size_t limit) {
    if (::lseek(fd, 0, SEEK_SET) != 0) return from_errno("seek", name);
    return read_rest(fd, name, limit);
}

}  // namespace kubexm
