#include "daemon/executor/journal/preserved_content.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/journal/vault.hpp"

namespace kubexm::executor::journal {

namespace {

constexpr mode_t kDirectoryMode = 0700;  // that of the vault

Result<std::vector<std::string>> blobs(const StateDirectory& state) {
    auto vault = StateDirectory::open(state.path_of(kVaultDirectory));
    if (vault) return vault->entries();
    if (vault.error().code == Code::not_found) return std::vector<std::string>{};
    return std::unexpected(vault.error());
}

Result<> link_if_new(const StateDirectory& state, const std::string& from, const std::string& to) {
    const bool exists = TRY(state.has(to));
    return exists ? Result<>() : state.link(from, to);
}

}  // namespace

Result<bool> has_content(const StateDirectory& state) {
    const auto names = TRY(blobs(state));
    return !names.empty();
}

Result<> preserve_content(const StateDirectory& state, const std::string& name) {
    const auto names = TRY(blobs(state));
    if (names.empty()) return {};
    if (::mkdirat(state.fd(), name.c_str(), kDirectoryMode) != 0 && errno != EEXIST) {
        return from_errno("mkdir", state.path_of(name));
    }
    for (const std::string& blob : names) {
        TRY(link_if_new(state, fmt::format("{}/{}", kVaultDirectory, blob),
                        fmt::format("{}/{}", name, blob)));
    }
    const auto preserved = TRY(StateDirectory::open(state.path_of(name)));
    TRY(preserved.sync());
    auto synced = state.sync();
    crash_point("journal.preserve-content.after");
    return synced;
}

}  // namespace kubexm::executor::journal
