#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/base/state_directory.hpp"

namespace kubexm::executor::journal {

/// The damaged journals that were put aside, by file name, the newest first. Private to this
/// module: recovery.hpp is for others.
Result<std::vector<std::string>> quarantined_files(const StateDirectory& directory);

/// Gives the journal the next such name. not_found: there is no journal.
Result<std::string> quarantine_file(const StateDirectory& directory);

/// The newest of them where there is no journal in its place: somebody has to decide.
Result<std::optional<std::string>> waiting_file(const StateDirectory& directory);

/// The name for the vault's content as it was with such a journal.
std::string content_beside(const std::string& file);

}  // namespace kubexm::executor::journal
