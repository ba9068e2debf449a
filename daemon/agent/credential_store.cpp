#include "daemon/agent/credential_store.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "daemon/base/io.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::agent {

namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20U;

Result<> check_private(int fd, const std::string& path) {
    constexpr mode_t kOthers = 0077;
    struct stat found{};
    if (::fstat(fd, &found) != 0) return from_errno("stat", path);
    if (S_ISREG(found.st_mode) && found.st_uid == ::geteuid() && (found.st_mode & kOthers) == 0) {
        return {};
    }
    return fail(Code::denied,
                fmt::format("{}: expected a file that only user {} can read, found mode {:04o} of "
                            "user {}; remove it, and kubexmd requests new credentials",
                            path, ::geteuid(), found.st_mode & 07777U, found.st_uid));
}

}  // namespace

Result<CredentialStore> CredentialStore::open(const std::string& directory) {
    CredentialStore store(TRY(StateDirectory::open(directory)));
    // A process that was killed leaves a file that it had not written to its end.
    for (const std::string& name : TRY(store.names())) {
        if (name.ends_with(StateDirectory::kUnfinished)) TRY(store.remove(name));
    }
    return store;
}

Result<std::optional<Secret>> CredentialStore::read(const std::string& name) const {
    auto file = directory_.read(name);
    if (!file && file.error().code == Code::not_found) return std::nullopt;
    if (!file) return std::unexpected(file.error());
    const std::string path = directory_.path_of(name);
    TRY(check_private(file->get(), path));
    std::string bytes = TRY(read_rest(file->get(), path, kMaxFileBytes));
    return Secret(std::move(bytes));
}

Result<> CredentialStore::write(const std::string& name, const Secret& content) const {
    return directory_.replace(name, content.reveal());
}

Result<std::vector<std::string>> CredentialStore::names() const {
    auto names = TRY(directory_.entries());
    std::ranges::sort(names);
    return names;
}

Result<> CredentialStore::remove(const std::string& name) const {
    TRY(directory_.remove(name));
    return directory_.sync();
}

}  // namespace kubexm::agent
