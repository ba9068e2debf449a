#include "daemon/executor/journal/database.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <tuple>
#include <utility>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/journal/integrity.hpp"
#include "daemon/executor/journal/rows.hpp"
#include "daemon/executor/journal/schema.hpp"

namespace kubexm::executor::journal {

namespace {

constexpr const char* kUnfinishedFile = "journal.db.new";

// With the exclusive lock taken before the first read, SQLite keeps the index of its log in memory
// (no -shm file) and no other process can write.
constexpr const char* kSettings =
    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
    "PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;"
    "PRAGMA cell_size_check = ON;";

/// Rolls back an open transaction. After an I/O error SQLite has done so itself.
class Rollback {
public:
    explicit Rollback(const sqlite::Database& database) : database_(database) {}
    Rollback(const Rollback&) = delete;
    Rollback& operator=(const Rollback&) = delete;
    ~Rollback() {
        if (database_.in_transaction()) std::ignore = database_.run("ROLLBACK");
    }

private:
    const sqlite::Database& database_;
};

Result<> transact(const sqlite::Database& database, const Change& change) {
    TRY(database.run("BEGIN IMMEDIATE"));
    const Rollback rollback(database);
    TRY(change(database));
    crash_point("journal.commit.before");
    TRY(database.run("COMMIT"));
    crash_point("journal.commit.after");
    return {};
}

/// Needs no rollback file: after a crash the unfinished file is removed.
Result<> build(const std::string& path, const Change& fill) {
    const auto database = TRY(sqlite::Database::open(path));
    TRY(database.script("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = FULL"));
    return transact(database, [&](const sqlite::Database& blank) -> Result<> {
        TRY(migrate(blank, 0, migrations()));
        TRY(put(blank, AuditEnds{}));
        return fill(blank);
    });
}

Result<> build_and_rename(const StateDirectory& directory, const Change& fill) {
    TRY(build(directory.path_of(kUnfinishedFile), fill));
    TRY(remove_side_files(directory));
    crash_point("journal.create.before");
    return directory.rename(kUnfinishedFile, kDatabaseFile);
}

Result<> use_log(const sqlite::Database& database) {
    const std::string mode = TRY(database.text("PRAGMA journal_mode = WAL"));
    if (mode == "wal") return {};
    return fail(Code::internal, fmt::format("{}: expected a write-ahead log, SQLite uses {}",
                                            database.file(), mode));
}

Result<> check_and_migrate(const sqlite::Database& database) {
    const std::int64_t version = TRY(check_schema(database, migrations()));
    // SQLite does not write a file with an unknown write version. The schema is known: damage.
    if (database.read_only()) {
        return fail(Code::corrupt, database.file() + ": the header has an unknown write version");
    }
    TRY(verify_structure(database));
    TRY(use_log(database));
    if (std::cmp_less(version, migrations().size())) {
        TRY(commit(database, [&](const sqlite::Database& old) {
            return migrate(old, version, migrations());
        }));
    }
    return verify_records(database);
}

}  // namespace

Result<> remove_side_files(const StateDirectory& directory) {
    for (const char* suffix : kSideFiles) {
        TRY(directory.remove(std::string(kDatabaseFile) + suffix));
    }
    return directory.sync();
}

Result<> create_database(const StateDirectory& directory, const Change& fill) {
    TRY(directory.remove(kUnfinishedFile));
    TRY(directory.create(kUnfinishedFile));
    if (auto built = build_and_rename(directory, fill); !built) {
        std::ignore = directory.remove(kUnfinishedFile);
        return built;
    }
    auto synced = directory.sync();
    crash_point("journal.create.after");
    return synced;
}

Result<sqlite::Database> open_database(const StateDirectory& directory) {
    const std::string path = directory.path_of(kDatabaseFile);
    // SQLite would follow a link, and would open a file without write permission read-only.
    const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    if (!Fd{::openat(directory.fd(), kDatabaseFile, flags)}) return from_errno("open", path);
    auto database = TRY(sqlite::Database::open(path));
    if (auto set = database.script(kSettings); !set) return sqlite::blame_file(set.error());
    TRY(check_and_migrate(database));
    database.release_memory();
    return database;
}

Result<> commit_to_log(const sqlite::Database& database, const Change& change) {
    return transact(database, change);
}

Result<> commit(const sqlite::Database& database, const Change& change) {
    TRY(commit_to_log(database, change));
    // The change is durable already; the next commit repeats a checkpoint that failed.
    std::ignore = database.checkpoint();
    return {};
}

}  // namespace kubexm::executor::journal
