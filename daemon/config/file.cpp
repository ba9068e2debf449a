#include "daemon/config/file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "daemon/base/io.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::config {

namespace {

Result<Fd> open_config(const std::string& path) {
    auto fd = open_regular(path);
    struct stat link{};
    if (!fd && fd.error().code == Code::not_found && ::lstat(path.c_str(), &link) == 0) {
        return fail(Code::invalid, path + ": expected a file, found a dangling symbolic link");
    }
    return fd;
}

Result<> check_owner(int fd, const std::string& path, uid_t owner) {
    struct stat status{};
    if (::fstat(fd, &status) != 0) return from_errno("stat", path);
    if (status.st_uid != owner) {
        return fail(Code::denied,
                    fmt::format("{}: expected owner {}, found {}; if you trust the content: "
                                "chown {} {}",
                                path, owner, status.st_uid, owner, path));
    }
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return fail(Code::denied,
                    fmt::format("{}: expected a file that only its owner can write, found mode "
                                "{:04o}; if you trust the content: chmod go-w {}",
                                path, status.st_mode & 07777U, path));
    }
    return {};
}

}  // namespace

Result<std::string> read_config(const std::string& path) {
    const Fd fd = TRY(open_config(path));
    return read_rest(fd.get(), path, kMaxFileBytes);
}

Result<std::string> read_config_of(const std::string& path, uid_t owner) {
    const Fd fd = TRY(open_config(path));
    TRY(check_owner(fd.get(), path, owner));
    return read_rest(fd.get(), path, kMaxFileBytes);
}

}  // namespace kubexm::config
