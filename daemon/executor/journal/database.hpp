#pragma once

#include <functional>

#include "daemon/base/error.hpp"
#include "daemon/base/state_directory.hpp"
#include "daemon/executor/journal/sqlite.hpp"

// Creates, opens and changes the database file.
//
// Why a write-ahead log: a commit is one append and its sync, and SQLite does not count a commit
// whose sync failed, so an error means that nothing was changed. (With a rollback journal a commit
// whose last sync fails is reported as failed although the change is there.) Why a checkpoint after
// every commit: SQLite silently ignores the rest of a damaged log, but damage in the file is found
// by the seals. After a commit everything is in journal.db, and a copy of that file is a copy of
// the journal. The two additional syncs cost little compared with a step.

namespace kubexm::executor::journal {

inline constexpr const char* kDatabaseFile = "journal.db";
inline constexpr const char* kLockFile = "journal.lock";

/// Suffixes of the files that SQLite creates beside a database.
inline constexpr const char* kSideFiles[] = {"-wal", "-journal", "-shm"};

using Change = std::function<Result<>(const sqlite::Database&)>;

/// Creates a journal with the content that `fill` writes, and renames it to journal.db when all of
/// it is on the disk.
Result<> create_database(const StateDirectory& directory, const Change& fill);

/// Removes the side files of a database that was renamed: SQLite would use them for the next one.
Result<> remove_side_files(const StateDirectory& directory);

/// Opens the journal, verifies all of it and migrates it to the newest schema.
Result<sqlite::Database> open_database(const StateDirectory& directory);

/// One transaction: on the disk after success, without effect after an error.
Result<> commit(const sqlite::Database& database, const Change& change);
/// The same without merging the write-ahead log into the file, which the next commit() does. For
/// the steps of a plan, which follow each other closely.
Result<> commit_to_log(const sqlite::Database& database, const Change& change);

}  // namespace kubexm::executor::journal
