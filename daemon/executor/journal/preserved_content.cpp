#include "daemon/executor/journal/preserved_content.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "daemon/base/crash_point.hpp"
#include "daemon/executor/journal/vault.hpp"

namespace kubexm::executor::journal {

namespace {

constexpr mode_t kAsTheVault = 0700;

Result<std::vector<std::string>> blobs(const StateDirectory& state) {
    auto vault = StateDirectory::open(state.path_of(kVaultDirectory));
    if (vault) return vault->entries();
    if (vault.error().code == Code::not_found) return std::vector<std::string>{};
    return std::unexpected(vault.error());
}

Result<> link_new(const StateDirectory& state, const std::string& from, const std::string& to) {
    auto there = state.has(to);
    if (!there) return std::unexpected(there.error());
    if (*there) return {};
    return state.link(from, to);
}

}  // namespace

Result<bool> has_content(const StateDirectory& state) {
    auto names = blobs(state);
    if (!names) return std::unexpected(names.error());
    return !names->empty();
}

Result<> preserve_content(const StateDirectory& state, const std::string& name) {
    auto names = blobs(state);
    if (!names) return std::unexpected(names.error());
    if (names->empty()) return {};
    if (::mkdirat(state.fd(), name.c_str(), kAsTheVault) != 0 && errno != EEXIST) {
        return from_errno("make directory", state.path_of(name));
    }
    for (const std::string& blob : *names) {
        auto linked = link_new(state, fmt::format("{}/{}", kVaultDirectory, blob),
                               fmt::format("{}/{}", name, blob));
        if (!linked) return linked;
    }
    auto kept = StateDirectory::open(state.path_of(name));
    if (!kept) return std::unexpected(kept.error());
    if (auto synced = kept->sync(); !synced) return synced;
    auto synced = state.sync();
    crash_point("journal.keep-content.after");
    return synced;
}

}  // namespace kubexm::executor::journal
