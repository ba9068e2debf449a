#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/journal/records.hpp"

namespace kubexm::executor {

// Recovery of a damaged journal. The executor quarantines it and changes nothing on the host until
// root decides: as long as a quarantined journal has no successor, Journal::open() fails with
// `corrupt`. restore() and discard() create the successor; both keep the damaged file, and the
// vault's content in content.corrupt-<n>. These functions hold the lock of the journal (conflict:
// another process or a Journal of this one holds it). An error leaves everything unchanged.

/// Renames `directory`/journal.db and its log to journal.db.corrupt-<n>, durably, and returns that
/// name. not_found: no journal.
Result<std::string> quarantine(const std::string& directory);

/// The readable records of a damaged journal, all with a valid checksum.
struct Recovered {
    std::string file;                 // "journal.db.corrupt-2"
    std::vector<LedgerEntry> ledger;  // newest first: the order of undo
    std::vector<PlanRecord> plans;    // newest first; only those with all their steps
    std::vector<std::string> damage;  // findings, one line each; empty: complete
};

/// Reads a quarantined journal (empty: the newest) through a copy; the file is not changed.
/// not_found: no such file.
Result<Recovered> recover(const std::string& directory, const std::string& file);

/// Creates a new journal from the readable records of the waiting one, and returns them. A plan
/// that was running becomes failed: its progress is unknown. The audit starts with this decision.
/// not_found: none waits.
Result<Recovered> restore(const std::string& directory, std::uint32_t uid, std::int64_t pid);

/// Creates an empty journal, also when the file is missing (then content.corrupt-0): objects on the
/// host have no owner from then on. The audit starts with this decision. not_found: none waits, and
/// none is missing.
Result<> discard(const std::string& directory, std::uint32_t uid, std::int64_t pid);

}  // namespace kubexm::executor
