#include "daemon/executor/journal/schema.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "daemon/base/try.hpp"

namespace kubexm::executor::journal {

namespace {

// The ids of dropped plans stay in `seen`. It needs no seal: SQLite's integrity check compares the
// values of a table with its index.
constexpr const char* kFirstVersion = R"sql(
CREATE TABLE plans(
    sequence INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, hash TEXT NOT NULL,
    owner TEXT NOT NULL, purpose TEXT NOT NULL, wanted TEXT NOT NULL, uid INTEGER NOT NULL,
    document TEXT NOT NULL, state TEXT NOT NULL, failures INTEGER NOT NULL,
    last_error TEXT NOT NULL, stays TEXT NOT NULL, started_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL, steps INTEGER NOT NULL, seal TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX one_plan_runs ON plans(state) WHERE state = 'running';
CREATE TABLE steps(
    plan INTEGER NOT NULL REFERENCES plans(sequence) ON DELETE CASCADE, number INTEGER NOT NULL,
    state TEXT NOT NULL, error TEXT NOT NULL, ledger INTEGER NOT NULL, seal TEXT NOT NULL,
    PRIMARY KEY(plan, number)) STRICT, WITHOUT ROWID;
CREATE TABLE outcomes(
    sequence INTEGER PRIMARY KEY, owner TEXT NOT NULL, purpose TEXT NOT NULL,
    plan_id TEXT NOT NULL, wanted TEXT NOT NULL, uid INTEGER NOT NULL, state TEXT NOT NULL,
    error TEXT NOT NULL, stays TEXT NOT NULL, at INTEGER NOT NULL, seal TEXT NOT NULL,
    UNIQUE(owner, purpose, state)) STRICT;
CREATE TABLE seen(
    sequence INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, root INTEGER NOT NULL) STRICT;
CREATE INDEX seen_of_root ON seen(sequence) WHERE root = 1;
CREATE TABLE failures(
    hash TEXT PRIMARY KEY, plan INTEGER NOT NULL, error TEXT NOT NULL, count INTEGER NOT NULL,
    last_at INTEGER NOT NULL, seal TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE ledger(
    sequence INTEGER PRIMARY KEY, type TEXT NOT NULL, target TEXT NOT NULL, step TEXT NOT NULL,
    applied TEXT NOT NULL, written TEXT NOT NULL, pre_image TEXT NOT NULL, seal TEXT NOT NULL,
    UNIQUE(type, target)) STRICT;
CREATE TABLE ledger_owners(
    sequence INTEGER PRIMARY KEY,
    entry INTEGER NOT NULL REFERENCES ledger(sequence) ON DELETE CASCADE, owner TEXT NOT NULL,
    step TEXT NOT NULL, plan_id TEXT NOT NULL, seal TEXT NOT NULL, UNIQUE(entry, owner)) STRICT;
CREATE TABLE audit(
    sequence INTEGER PRIMARY KEY, at INTEGER NOT NULL, uid INTEGER NOT NULL, pid INTEGER NOT NULL,
    event TEXT NOT NULL, detail TEXT NOT NULL, seal TEXT NOT NULL) STRICT;
CREATE TABLE audit_ends(
    only INTEGER PRIMARY KEY CHECK(only = 1), first INTEGER NOT NULL, anchor TEXT NOT NULL,
    last INTEGER NOT NULL, head TEXT NOT NULL, seal TEXT NOT NULL) STRICT;
)sql";

constexpr std::array<const char*, 1> kMigrations{kFirstVersion};

/// The schema of a database as one text.
Result<std::string> definitions(const sqlite::Database& database) {
    auto statement =
        database.query("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name");
    if (!statement) return sqlite::blame_file(statement.error());
    std::string text;
    for (;;) {
        const bool more = TRY(statement->step());
        if (!more) return text;
        text += fmt::format("{} {} {} {}\n", statement->text(0), statement->text(1),
                            statement->text(2), statement->text(3));
    }
}

/// The schema of a version, from a database in memory.
Result<std::string> expected_definitions(Migrations known, std::int64_t version) {
    const auto blank = TRY(sqlite::Database::open(":memory:"));
    TRY(migrate(blank, 0, known.first(static_cast<std::size_t>(version))));
    return definitions(blank);
}

/// The version that has these definitions; 0: none.
Result<std::int64_t> version_by_definitions(const std::string& found, Migrations known) {
    for (auto version = static_cast<std::int64_t>(known.size()); version > 0; --version) {
        const std::string expected = TRY(expected_definitions(known, version));
        if (expected == found) return version;
    }
    return 0;
}

}  // namespace

Migrations migrations() { return kMigrations; }

Result<std::int64_t> check_schema(const sqlite::Database& database, Migrations known) {
    const std::string found = TRY(definitions(database));
    const std::int64_t claimed = TRY(database.number("PRAGMA user_version"));
    const std::int64_t version = TRY(version_by_definitions(found, known));
    if (version > 0 && version == claimed) return version;
    // Known tables with an unknown number: the number is damaged.
    if (version == 0 && claimed > static_cast<std::int64_t>(known.size())) {
        return fail(
            Code::invalid,
            fmt::format("{}: written by a newer kubexm-executor (expected schema {} at most, "
                        "found {}); install that version again",
                        database.file(), known.size(), claimed));
    }
    return fail(Code::corrupt, fmt::format("{}: the tables do not match schema version {}",
                                           database.file(), claimed));
}

Result<> migrate(const sqlite::Database& database, std::int64_t from, Migrations known) {
    for (const char* migration : known.subspan(static_cast<std::size_t>(from))) {
        TRY(database.script(migration));
    }
    return database.script(fmt::format("PRAGMA user_version = {}", known.size()).c_str());
}

}  // namespace kubexm::executor::journal
