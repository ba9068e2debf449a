#include "daemon/agent/credential_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "daemon/base/crash_point.hpp"

namespace kubexm::agent {

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
constexpr mode_t kOthers = 0077;

Result<> check(int fd, const std::string& path) {
    struct stat found{};
    if (::fstat(fd, &found) != 0) return from_errno("stat", path);
    if (!S_ISREG(found.st_mode) || found.st_uid != ::geteuid() || (found.st_mode & kOthers) != 0) {
        return fail(
            Code::denied,
            fmt::format("{}: expected a file that only user {} can read, found mode {:04o} of "
                        "user {}: remove it, and credentials are asked for anew",
                        path, ::geteuid(), found.st_mode & 07777U, found.st_uid));
    }
    return {};
}

Result<std::string> read_all(int fd, const std::string& path) {
    std::string bytes(kMostBytes + 1, '\0');
    std::size_t size = 0;
    while (size < bytes.size()) {
        const ssize_t got = ::read(fd, bytes.data() + size, bytes.size() - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return from_errno("read", path);
        if (got == 0) break;
        size += static_cast<std::size_t>(got);
    }
    if (size > kMostBytes) return fail(Code::invalid, path + " is larger than anything we write");
    bytes.resize(size);
    return bytes;
}

Result<> write_all(int fd, std::string_view bytes, const std::string& path) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return from_errno("write", path);
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(fd) != 0) return from_errno("fsync", path);
    return {};
}

}  // namespace

Result<CredentialStore> CredentialStore::open(const std::string& directory) {
    Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return from_errno("open", directory);
    return CredentialStore(std::move(fd), directory);
}

Result<std::optional<Secret>> CredentialStore::read(const std::string& name) const {
    const Fd file(::openat(directory_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!file && errno == ENOENT) return std::nullopt;
    if (!file) return from_errno("open", path_of(name));
    if (auto good = check(file.get(), path_of(name)); !good) return std::unexpected(good.error());
    auto bytes = read_all(file.get(), path_of(name));
    if (!bytes) return std::unexpected(bytes.error());
    return Secret(*std::move(bytes));
}

Result<> CredentialStore::write(const std::string& name, const Secret& content) const {
    const std::string fresh = name + ".new";
    // What a killed writer left is nobody's.
    if (::unlinkat(directory_.get(), fresh.c_str(), 0) != 0 && errno != ENOENT) {
        return from_errno("remove", path_of(fresh));
    }
    const Fd file(::openat(directory_.get(), fresh.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return from_errno("create", path_of(fresh));
    if (auto done = write_all(file.get(), content.reveal(), path_of(fresh)); !done) return done;
    crash_point("store.rename.before");
    if (::renameat(directory_.get(), fresh.c_str(), directory_.get(), name.c_str()) != 0) {
        return from_errno("rename to", path_of(name));
    }
    crash_point("store.rename.after");
    if (::fsync(directory_.get()) != 0) return from_errno("fsync", path_);
    return {};
}

Result<std::vector<std::string>> CredentialStore::names() const {
    std::error_code failed;
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_, failed)) {
        names.push_back(entry.path().filename().string());
    }
    if (failed) return from_errno("list", path_, failed.value());
    std::ranges::sort(names);
    return names;
}

Result<> CredentialStore::remove(const std::string& name) const {
    if (::unlinkat(directory_.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
        return from_errno("remove", path_of(name));
    }
    if (::fsync(directory_.get()) != 0) return from_errno("fsync", path_);
    return {};
}

}  // namespace kubexm::agent
