#include "daemon/config/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "daemon/base/fd.hpp"
#include "daemon/config/document.hpp"

// The messages do not name the file: Problems does.

namespace kubexm::config {

namespace {

struct Opened {
    Fd fd;
    struct stat status{};
};

std::unexpected<Error> failed_to_open(const std::string& path) {
    const int number = errno;
    struct stat link{};
    // Defaults in place of a file that only seems to be there would be a surprise.
    if (number == ENOENT && ::lstat(path.c_str(), &link) == 0) {
        return fail(Code::invalid, "expected a file, found a symbolic link to nothing");
    }
    return from_errno("open", "for reading", number);
}

Result<Opened> open_regular(const std::string& path) {
    // Not blocking: a named pipe would hold us up until somebody writes to it.
    Opened file{Fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)}};
    if (!file.fd) return failed_to_open(path);
    if (::fstat(file.fd.get(), &file.status) != 0) return from_errno("stat", "of the open file");
    if (!S_ISREG(file.status.st_mode)) return fail(Code::invalid, "expected a regular file");
    return file;
}

Result<std::string> read_all(int fd) {
    std::string text;
    std::array<char, 16384> chunk{};
    while (text.size() <= kMaxFileBytes) {
        const ssize_t got = ::read(fd, chunk.data(), chunk.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return from_errno("read", "of the open file");
        if (got == 0) return text;
        text.append(chunk.data(), static_cast<std::size_t>(got));
    }
    return fail(Code::invalid, fmt::format("expected at most {} KiB", kMaxFileBytes / 1024));
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
    const auto file = open_regular(path);
    if (!file) return std::unexpected(file.error());
    return read_all(file->fd.get());
}

Result<std::string> read_file_of(const std::string& path, uid_t owner) {
    const auto file = open_regular(path);
    if (!file) return std::unexpected(file.error());
    const struct stat& status = file->status;
    if (status.st_uid != owner) {
        return fail(Code::denied,
                    fmt::format("expected a file that user {} owns, found one of user "
                                "{}: chown {} it if you trust what is in it",
                                owner, status.st_uid, owner));
    }
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return fail(Code::denied,
                    fmt::format("expected a file that only its owner can write, found "
                                "mode {:04o}: chmod go-w it if you trust what is in it",
                                status.st_mode & 07777U));
    }
    return read_all(file->fd.get());
}

}  // namespace kubexm::config
