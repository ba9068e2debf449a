#include "daemon/executor/journal/database.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <tuple>
#include <utility>

#include "daemon/base/crash_point.hpp"
#include "daemon/executor/journal/integrity.hpp"
#include "daemon/executor/journal/rows.hpp"
#include "daemon/executor/journal/schema.hpp"

namespace kubexm::executor::journal {

namespace {

constexpr const char* kUnfinishedFile = "journal.db.new";

// The exclusive lock before the first read makes SQLite keep the index of its log in memory: no
// -shm file, and nobody else can write.
constexpr const char* kSettings =
    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
    "PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;"
    "PRAGMA cell_size_check = ON;";

/// Takes a transaction back that did not come to its end. What an I/O error interrupted SQLite has
/// taken back itself.
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
    if (auto begun = database.run("BEGIN IMMEDIATE"); !begun) return begun;
    const Rollback rollback(database);
    if (auto done = change(database); !done) return done;
    crash_point("journal.commit.before");
    if (auto committed = database.run("COMMIT"); !committed) return committed;
    crash_point("journal.commit.after");
    return {};
}

/// A crash leaves half a file under a name that nobody reads: no rollback file is needed.
Result<> build(const std::string& path, const Change& fill) {
    auto database = sqlite::Database::open(path);
    if (!database) return std::unexpected(database.error());
    if (auto set = database->script("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = FULL");
        !set) {
        return set;
    }
    return transact(*database, [&](const sqlite::Database& blank) -> Result<> {
        if (auto made = migrate(blank, 0, migrations()); !made) return made;
        if (auto put_ends = put(blank, AuditEnds{}); !put_ends) return put_ends;
        return fill(blank);
    });
}

Result<> use_log(const sqlite::Database& database) {
    auto mode = database.text("PRAGMA journal_mode = WAL");
    if (!mode) return std::unexpected(mode.error());
    if (*mode == "wal") return {};
    return fail(Code::internal, database.file() + ": SQLite does not keep a write-ahead log");
}

Result<> check_and_migrate(const sqlite::Database& database) {
    auto version = check_schema(database, migrations());
    if (!version) return std::unexpected(version.error());
    if (database.read_only()) {
        return fail(Code::corrupt, database.file() + ": its format is marked as one of the future");
    }
    if (auto good = verify_structure(database); !good) return good;
    if (auto set = use_log(database); !set) return set;
    if (std::cmp_less(*version, migrations().size())) {
        auto migrated = commit(database, [&](const sqlite::Database& old) {
            return migrate(old, *version, migrations());
        });
        if (!migrated) return migrated;
    }
    return verify_records(database);
}

}  // namespace

Result<> remove_side_files(const StateDirectory& directory) {
    for (const char* suffix : kSideFiles) {
        if (auto gone = directory.remove(std::string(kDatabaseFile) + suffix); !gone) return gone;
    }
    return directory.sync();
}

Result<> create_database(const StateDirectory& directory, const Change& fill) {
    if (auto gone = directory.remove(kUnfinishedFile); !gone) return gone;
    if (auto made = directory.create(kUnfinishedFile); !made) return std::unexpected(made.error());
    auto built = build(directory.path_of(kUnfinishedFile), fill);
    if (built) built = remove_side_files(directory);
    if (built) {
        crash_point("journal.create.before");
        built = directory.rename(kUnfinishedFile, kDatabaseFile);
    }
    if (!built) {
        std::ignore = directory.remove(kUnfinishedFile);
        return built;
    }
    auto synced = directory.sync();
    crash_point("journal.create.after");
    return synced;
}

Result<sqlite::Database> open_database(const StateDirectory& directory) {
    const std::string path = directory.path_of(kDatabaseFile);
    // SQLite would follow a link, and open what it may not write for reading only.
    const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    if (!Fd{::openat(directory.fd(), kDatabaseFile, flags)}) return from_errno("open", path);
    auto database = sqlite::Database::open(path);
    if (!database) return database;
    if (auto set = database->script(kSettings); !set) return sqlite::blame_file(set.error());
    if (auto good = check_and_migrate(*database); !good) return std::unexpected(good.error());
    database->release_memory();
    return database;
}

Result<> commit(const sqlite::Database& database, const Change& change) {
    if (auto done = transact(database, change); !done) return done;
    // The change is on the disk already. Where the log cannot be emptied now, the next commit will.
    std::ignore = database.checkpoint();
    return {};
}

}  // namespace kubexm::executor::journal
