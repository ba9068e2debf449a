#include "daemon/executor/journal/vault.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <tuple>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/digest.hpp"
#include "daemon/executor/journal/stream.hpp"

namespace kubexm::executor {

using namespace journal;

namespace {

constexpr mode_t kOwnersDirectory = 0700;
constexpr std::size_t kDigestSize = 64;
constexpr const char* kUnfinished = "unfinished";  // one thread: one at a time

bool is_digest(std::string_view name) {
    const auto hexadecimal = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    };
    return name.size() == kDigestSize && std::all_of(name.begin(), name.end(), hexadecimal);
}

std::unexpected<Error> no_digest(std::string_view name) {
    return fail(Code::invalid,
                fmt::format("vault: expected a SHA-256 in lower-case hexadecimal, found {} bytes",
                            name.size()));
}

Result<> make_directory(const std::string& path) {
    if (::mkdir(path.c_str(), kOwnersDirectory) != 0) {
        if (errno == EEXIST) return {};
        return from_errno("make directory", path);
    }
    auto parent = StateDirectory::open(std::filesystem::path(path).parent_path());
    if (!parent) return std::unexpected(parent.error());
    return parent->sync();
}

/// Nobody else may look, and nobody else may have put anything there.
Result<> make_private(const StateDirectory& directory) {
    struct stat status{};
    if (::fstat(directory.fd(), &status) != 0) return from_errno("stat", directory.path());
    if (status.st_uid != ::geteuid()) {
        return fail(Code::denied, fmt::format("{}: expected to belong to uid {}, belongs to {}",
                                              directory.path(), ::geteuid(), status.st_uid));
    }
    if ((status.st_mode & ALLPERMS) == kOwnersDirectory) return {};
    if (::fchmod(directory.fd(), kOwnersDirectory) == 0) return {};
    return from_errno("make private", directory.path());
}

/// Bytes under a name that says nothing become a blob.
Result<> publish(const StateDirectory& directory, int fd, const std::string& digest) {
    crash_point("vault.sync.before");
    if (::fsync(fd) != 0) return from_errno("sync", directory.path_of(digest));
    crash_point("vault.rename.before");
    if (auto renamed = directory.rename(kUnfinished, digest); !renamed) return renamed;
    crash_point("vault.rename.after");
    return {};
}

}  // namespace

Result<Vault> Vault::open(const std::string& directory) {
    if (auto made = make_directory(directory); !made) return std::unexpected(made.error());
    auto place = StateDirectory::open(directory);
    if (!place) return std::unexpected(place.error());
    if (auto done = make_private(*place); !done) return std::unexpected(done.error());
    if (auto gone = place->remove(kUnfinished); !gone) return std::unexpected(gone.error());
    return Vault{*std::move(place)};
}

Result<> Vault::keep_what(const Write& writes, std::string_view digest) {
    const std::string name(digest);
    if (!is_digest(name)) return no_digest(name);
    if (auto gone = directory_.remove(kUnfinished); !gone) return gone;
    auto file = directory_.create(kUnfinished);
    if (!file) return std::unexpected(file.error());
    auto written = writes(file->get());
    Result<> done;
    if (!written) done = std::unexpected(written.error());
    if (written && *written != name) {
        done = fail(Code::invalid, fmt::format("{}: the given content has the digest {}",
                                               directory_.path_of(name), *written));
    }
    if (done) done = publish(directory_, file->get(), name);
    if (!done) {
        std::ignore = directory_.remove(kUnfinished);
        return done;
    }
    done = directory_.sync();
    crash_point("vault.sync.after");
    return done;
}

Result<> Vault::keep(int source, std::string_view digest, std::uint64_t limit) {
    const std::string name = directory_.path_of(digest);
    if (auto good = only_regular(source, "the content for " + name); !good) return good;
    return keep_what([&](int target) { return copy_rest(source, target, limit, name); }, digest);
}

Result<> Vault::keep(std::string_view content, std::string_view digest) {
    const auto write = [&](int target) -> Result<std::string> {
        auto done = write_content(target, content, directory_.path_of(digest));
        if (!done) return std::unexpected(done.error());
        return sha256(content);
    };
    return keep_what(write, digest);
}

bool Vault::has(std::string_view digest) const {
    return is_digest(digest) && directory_.has(std::string(digest)).value_or(false);
}

Result<Fd> Vault::open_blob(std::string_view digest) const {
    const std::string name(digest);
    if (!is_digest(name)) return no_digest(name);
    auto file = directory_.read(name);
    if (!file) return file;
    auto found = digest_of_rest(file->get(), directory_.path_of(name));
    if (!found) return std::unexpected(found.error());
    if (*found != name) {
        return fail(Code::corrupt, fmt::format("{}: its content has the digest {}",
                                               directory_.path_of(name), *found));
    }
    if (::lseek(file->get(), 0, SEEK_SET) == 0) return file;
    return from_errno("rewind", directory_.path_of(name));
}

Result<> Vault::keep_only(const std::vector<std::string>& wanted) {
    const std::set<std::string_view> stays(wanted.begin(), wanted.end());
    auto names = directory_.entries();
    if (!names) return std::unexpected(names.error());
    for (const std::string& name : *names) {
        if (!is_digest(name) || stays.contains(name)) continue;
        crash_point("vault.remove.before");
        if (auto gone = directory_.remove(name); !gone) return gone;
        crash_point("vault.remove.after");
    }
    return directory_.sync();
}

}  // namespace kubexm::executor
