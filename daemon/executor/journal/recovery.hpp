#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/journal/records.hpp"

namespace kubexm::executor {

// What happens with a damaged journal. The executor puts it aside, say so, and change nothing on
// the host until a person has decided: while a journal that was set aside has no successor,
// Journal::open() is `corrupt`. Deciding makes the successor; the damaged file stays where it is,
// and the vault's content beside it as content.corrupt-<n>, whatever was decided. These functions
// hold the lock of the journal while they work (conflict: another process, or a Journal of this
// one, has it). Like the Journal's, their errors leave everything as it was.

/// Renames `directory`/journal.db, with what SQLite keeps beside it, to journal.db.corrupt-<n>,
/// durably, and returns that name. not_found: there is no journal.
Result<std::string> quarantine(const std::string& directory);

/// The name of the journal that waits for a decision, if one does.
Result<std::optional<std::string>> awaiting_decision(const std::string& directory);

/// What can still be read of a damaged journal. Everything here has its checksum.
struct Recovered {
    std::string file;                 // "journal.db.corrupt-2"
    std::vector<LedgerEntry> ledger;  // newest first: the order of undo
    std::vector<PlanRecord> plans;    // newest first; only those with all their steps
    std::vector<std::string> damage;  // what was found, one line each; empty: nothing is missing
};

/// Reads a journal that was set aside (empty: the newest), through a copy: the file is not
/// touched. not_found: there is none of that name.
Result<Recovered> recover(const std::string& directory, const std::string& file);

/// Makes a new journal of what can be read of the one that waits, and returns what that was. The
/// ledger and the ids of plans go on; a plan that was running is failed, because nobody knows any
/// more how far it came. The audit begins anew, with who decided this. not_found: none waits.
Result<Recovered> restore(const std::string& directory, std::uint32_t uid, std::int64_t pid);

/// Begins with an empty journal, also where it is lost altogether (then content.corrupt-0): what we
/// put on the host is nobody's from now on. The audit begins with who decided this. not_found: none
/// waits, and none is lost.
Result<> discard(const std::string& directory, std::uint32_t uid, std::int64_t pid);

}  // namespace kubexm::executor
