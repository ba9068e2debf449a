#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/base/state_directory.hpp"

// Files of damaged journals, journal.db.corrupt-<n>. Private to this module; others use
// recovery.hpp.

namespace kubexm::executor::journal {

/// The names of the quarantined files, newest first.
Result<std::vector<std::string>> quarantined_files(const StateDirectory& directory);

/// Renames the journal to the next such name and returns it. not_found: no journal.
Result<std::string> quarantine_file(const StateDirectory& directory);

/// The newest quarantined file if no journal has replaced it: it waits for a decision.
Result<std::optional<std::string>> waiting_file(const StateDirectory& directory);

/// The directory for the vault's content that belongs to a quarantined file.
std::string preserved_content_of(const std::string& file);

}  // namespace kubexm::executor::journal
