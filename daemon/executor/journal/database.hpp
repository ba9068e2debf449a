#pragma once

#include <functional>

#include "daemon/base/error.hpp"
#include "daemon/base/state_directory.hpp"
#include "daemon/executor/journal/sqlite.hpp"

// The database file: how it is made, opened and changed.
//
// Why a write-ahead log: a commit is one append and its sync, and where the sync fails SQLite does
// not count the commit, so that an error means "nothing of it is there" also for the very last
// write. (With a rollback journal the commit is the end of that journal: where the sync after it
// fails, the change is there and reported as failed.) Why it is emptied into the file after every
// commit: a damaged log ends silently where the damage is, a damaged file is found by its seals. So
// at rest everything is in journal.db, and a copy of that one file is a copy of the journal. Our
// writes are few; two more syncs for each are nothing beside what a step does.

namespace kubexm::executor::journal {

inline constexpr const char* kDatabaseFile = "journal.db";
inline constexpr const char* kLockFile = "journal.lock";

/// What SQLite puts beside a database file, as suffixes.
inline constexpr const char* kSideFiles[] = {"-wal", "-journal", "-shm"};

using Change = std::function<Result<>(const sqlite::Database&)>;

/// Makes an empty journal, lets `fill` put its first content into it, and gives it its name when
/// all of it is on the disk.
Result<> create_database(const StateDirectory& directory, const Change& fill);

/// Removes what SQLite left beside a database that is no longer there: it would be taken for that
/// of the next one.
Result<> remove_side_files(const StateDirectory& directory);

/// Opens the journal, checks everything in it and brings it to the newest schema.
Result<sqlite::Database> open_database(const StateDirectory& directory);

/// One transaction, on the disk when this returns success; after an error nothing of it is there.
Result<> commit(const sqlite::Database& database, const Change& change);

}  // namespace kubexm::executor::journal
