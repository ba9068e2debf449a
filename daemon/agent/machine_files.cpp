#include "daemon/agent/machine_files.hpp"

#include <algorithm>

#include "daemon/agent/executor_state.hpp"
#include "daemon/base/log.hpp"
#include "daemon/model/owner.hpp"

namespace kubexm::agent {

namespace {

std::vector<std::string> machine_files(const CredentialStore& store) {
    auto names = store.names();
    if (!names) log::warning(names.error().what);
    std::vector<std::string> files = names ? *std::move(names) : std::vector<std::string>();
    std::erase_if(files, [](const std::string& name) { return !model::is_machine_owner(name); });
    return files;
}

std::string owner_in(const std::string& file) { return file.substr(0, file.find('.')); }

}  // namespace

std::string stored_owner(const CredentialStore& store) {
    const auto files = machine_files(store);
    return files.empty() ? "" : owner_in(files.front());
}

void remove_all_but(const std::vector<std::string>& owners, const CredentialStore& store) {
    for (const std::string& file : machine_files(store)) {
        if (std::ranges::find(owners, owner_in(file)) != owners.end()) continue;
        if (auto removed = store.remove(file); !removed) log::warning(removed.error().what);
    }
}

}  // namespace kubexm::agent
