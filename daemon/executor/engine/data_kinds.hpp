#pragma once

#include <chrono>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/journal/journal.hpp"
#include "daemon/executor/journal/vault.hpp"
#include "daemon/model/plan.hpp"
#include "daemon/pki/authority.hpp"

// The content of data files. It is read from the vault: the sender could change it before.

namespace kubexm::executor {

/// Whether the content of every data file of a plan is of the file's kind, of root's plans, too.
/// Content that is there already is not judged again: its CAs may have expired since. invalid:
/// names the file.
Result<> check_kinds(Journal& journal, const Vault& vault, const model::Plan& plan);

/// The CAs in a file of kind ca-bundle. invalid: the content is no CA bundle.
Result<std::vector<pki::Authority>> authorities_in(const Vault& vault, const model::DataFile& file);
/// Those that are valid now.
std::vector<pki::Authority> valid_authorities_in(const Vault& vault, const model::DataFile& file);

std::chrono::sys_seconds system_seconds();

}  // namespace kubexm::executor
