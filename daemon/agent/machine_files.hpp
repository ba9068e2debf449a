#pragma once

#include <string>
#include <vector>

#include "daemon/agent/credential_store.hpp"

namespace kubexm::agent {

/// The owner whose release a kill has interrupted after the undo: its credentials are still there.
/// Empty: none.
std::string stored_owner(const CredentialStore& store);

/// Removes the credentials of all other machines: those were released before.
void remove_all_but(const std::vector<std::string>& owners, const CredentialStore& store);

}  // namespace kubexm::agent
