#include "daemon/executor/journal/vault.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/digest.hpp"
#include "daemon/base/hex.hpp"
#include "daemon/base/refusal.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/journal/stream.hpp"

namespace kubexm::executor {

using namespace journal;

namespace {

constexpr mode_t kDirectoryMode = 0700;
constexpr const char* kUnfinished = "unfinished";  // one thread writes one blob at a time

Result<> check_digest(std::string_view name) {
    if (is_sha256(name)) return {};
    return fail(Code::invalid,
                fmt::format("vault: expected a SHA-256 in lower-case hexadecimal, found {} bytes",
                            name.size()));
}

Result<> make_directory(const std::string& path) {
    if (::mkdir(path.c_str(), kDirectoryMode) != 0) {
        if (errno == EEXIST) return {};
        return from_errno("mkdir", path);
    }
    const auto parent = TRY(StateDirectory::open(std::filesystem::path(path).parent_path()));
    return parent.sync();
}

/// Denies the directory of another user and removes the permissions of others.
Result<> make_private(const StateDirectory& directory) {
    struct stat status{};
    if (::fstat(directory.fd(), &status) != 0) return from_errno("stat", directory.path());
    if (status.st_uid != ::geteuid()) {
        return fail(Code::denied, fmt::format("{}: expected owner uid {}, found {}",
                                              directory.path(), ::geteuid(), status.st_uid));
    }
    if ((status.st_mode & ALLPERMS) == kDirectoryMode) return {};
    if (::fchmod(directory.fd(), kDirectoryMode) == 0) return {};
    return from_errno("chmod", directory.path());
}

/// Gives the unfinished file the name of its digest.
Result<> publish(const StateDirectory& directory, int fd, const std::string& digest) {
    crash_point("vault.sync.before");
    if (::fsync(fd) != 0) return from_errno("sync", directory.path_of(digest));
    crash_point("vault.rename.before");
    TRY(directory.rename(kUnfinished, digest));
    crash_point("vault.rename.after");
    return {};
}

constexpr std::size_t kMaxChanged = 64;  // files
constexpr std::size_t kMaxBaseName = 100;

/// "ca.crt-3f2a...": the same file with the same content has the same name.
std::string name_aside(const Vault::Aside& file) {
    const std::string base = std::filesystem::path(file.path).filename();
    return fmt::format("{}-{}", base.substr(0, kMaxBaseName),
                       sha256(file.path + " " + file.digest).substr(0, 16));
}

Result<> copy_aside(const StateDirectory& directory, const std::string& name,
                    const Vault::Aside& file, std::uint64_t limit) {
    TRY(directory.remove(kUnfinished));
    const Fd copy = TRY(directory.create(kUnfinished));
    const std::string found = TRY(copy_rest(file.source, copy.get(), limit, file.path));
    if (found != file.digest) {
        return fail(
            Code::conflict,
            file.path + ": expected a file that does not change while it is copied; undo again");
    }
    return publish(directory, copy.get(), name);
}

/// Leaves room for one more.
Result<> drop_oldest(const StateDirectory& directory) {
    const auto names = TRY(directory.entries());
    std::multimap<std::time_t, std::string> by_age;
    for (const std::string& name : names) {
        struct stat status{};
        if (::fstatat(directory.fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        by_age.emplace(status.st_mtime, name);
    }
    for (; by_age.size() >= kMaxChanged; by_age.erase(by_age.begin())) {
        TRY(directory.remove(by_age.begin()->second));
    }
    return {};
}

}  // namespace

Result<Vault> Vault::open(const std::string& directory) {
    TRY(make_directory(directory));
    auto opened = TRY(StateDirectory::open(directory));
    TRY(make_private(opened));
    TRY(opened.remove(kUnfinished));
    return Vault{std::move(opened)};
}

Result<> Vault::write_blob(const Write& write, const std::string& digest) {
    const Fd file = TRY(directory_.create(kUnfinished));
    const std::string written = TRY(write(file.get()));
    if (written != digest) {
        TRY(refusal(
            "content-digest", Code::invalid,
            fmt::format("{}: the content has digest {}", directory_.path_of(digest), written)));
    }
    return publish(directory_, file.get(), digest);
}

Result<> Vault::store_as(const Write& write, std::string_view digest) {
    TRY(check_digest(digest));
    TRY(directory_.remove(kUnfinished));
    if (auto done = write_blob(write, std::string(digest)); !done) {
        std::ignore = directory_.remove(kUnfinished);
        return done;
    }
    auto synced = directory_.sync();
    crash_point("vault.sync.after");
    return synced;
}

Result<> Vault::store(int source, std::string_view digest, std::uint64_t limit) {
    const std::string name = directory_.path_of(digest);
    TRY(check_regular(source, "content for " + name));
    return store_as([&](int target) { return copy_rest(source, target, limit, name); }, digest);
}

Result<> Vault::store(std::string_view content, std::string_view digest) {
    const auto write = [&](int target) -> Result<std::string> {
        TRY(write_content(target, content, directory_.path_of(digest)));
        return sha256(content);
    };
    return store_as(write, digest);
}

bool Vault::has(std::string_view digest) const {
    return is_sha256(digest) && directory_.has(std::string(digest)).value_or(false);
}

Result<Fd> Vault::open_blob(std::string_view digest) const {
    TRY(check_digest(digest));
    const std::string path = directory_.path_of(digest);
    Fd file = TRY(directory_.read(std::string(digest)));
    const std::string found = TRY(digest_of_rest(file.get(), path));
    if (found != digest) {
        TRY(refusal("vault-digest", Code::corrupt,
                    fmt::format("{}: the content has digest {}", path, found)));
    }
    if (::lseek(file.get(), 0, SEEK_SET) == 0) return file;
    return from_errno("seek", path);
}

Result<std::string> Vault::set_aside(const Aside& file, std::uint64_t limit) {
    const auto beside = std::filesystem::path(directory_.path()).parent_path() / kChangedDirectory;
    TRY(make_directory(beside));
    const auto directory = TRY(StateDirectory::open(beside));
    TRY(make_private(directory));
    const std::string name = name_aside(file);
    const bool known = TRY(directory.has(name));
    if (!known) {
        TRY(drop_oldest(directory));
        TRY(copy_aside(directory, name, file, limit));
        TRY(directory.sync());
    }
    return directory.path_of(name);
}

std::int64_t Vault::size(std::string_view digest) const {
    struct stat file{};
    const bool is_there =
        is_sha256(digest) && ::lstat(directory_.path_of(std::string(digest)).c_str(), &file) == 0;
    return is_there ? file.st_size : 0;
}

Result<std::int64_t> Vault::bytes() const {
    std::int64_t sum = 0;
    const auto names = TRY(directory_.entries());
    for (const std::string& name : names) {
        struct stat file{};
        if (is_sha256(name) && ::lstat(directory_.path_of(name).c_str(), &file) == 0) {
            sum += file.st_size;
        }
    }
    return sum;
}

Result<> Vault::retain(const std::vector<std::string>& wanted) {
    const std::set<std::string_view> stays(wanted.begin(), wanted.end());
    const auto names = TRY(directory_.entries());
    for (const std::string& name : names) {
        if (!is_sha256(name) || stays.contains(name)) continue;
        crash_point("vault.remove.before");
        TRY(directory_.remove(name));
        crash_point("vault.remove.after");
    }
    return directory_.sync();
}

}  // namespace kubexm::executor
