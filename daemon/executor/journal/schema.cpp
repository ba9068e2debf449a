#include "daemon/executor/journal/schema.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

namespace kubexm::executor::journal {

namespace {

// Plans that are forgotten leave their id in `seen`. It needs no seal: a value that is in a table
// and in its index is compared by SQLite's integrity check.
constexpr const char* kFirstVersion = R"sql(
CREATE TABLE plans(
    sequence INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, hash TEXT NOT NULL,
    owner TEXT NOT NULL, document TEXT NOT NULL, state TEXT NOT NULL, undoing INTEGER NOT NULL,
    failures INTEGER NOT NULL, last_error TEXT NOT NULL, started_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL, steps INTEGER NOT NULL, seal TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX one_plan_runs ON plans(state) WHERE state = 'running';
CREATE TABLE steps(
    plan INTEGER NOT NULL REFERENCES plans(sequence) ON DELETE CASCADE, number INTEGER NOT NULL,
    state TEXT NOT NULL, error TEXT NOT NULL, ledger INTEGER NOT NULL, seal TEXT NOT NULL,
    PRIMARY KEY(plan, number)) STRICT, WITHOUT ROWID;
CREATE TABLE seen(sequence INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE failures(
    hash TEXT NOT NULL, undoing INTEGER NOT NULL, plan INTEGER NOT NULL, error TEXT NOT NULL,
    count INTEGER NOT NULL, last_at INTEGER NOT NULL, seal TEXT NOT NULL,
    PRIMARY KEY(hash, undoing)) STRICT, WITHOUT ROWID;
CREATE TABLE ledger(
    sequence INTEGER PRIMARY KEY, owner TEXT NOT NULL, type TEXT NOT NULL, target TEXT NOT NULL,
    step TEXT NOT NULL, applied TEXT NOT NULL, pre_image TEXT NOT NULL, plan_id TEXT NOT NULL,
    seal TEXT NOT NULL, UNIQUE(type, target)) STRICT;
CREATE TABLE audit(
    sequence INTEGER PRIMARY KEY, at INTEGER NOT NULL, uid INTEGER NOT NULL, pid INTEGER NOT NULL,
    event TEXT NOT NULL, detail TEXT NOT NULL, seal TEXT NOT NULL) STRICT;
CREATE TABLE audit_ends(
    only INTEGER PRIMARY KEY CHECK(only = 1), first INTEGER NOT NULL, anchor TEXT NOT NULL,
    last INTEGER NOT NULL, head TEXT NOT NULL, seal TEXT NOT NULL) STRICT;
)sql";

constexpr std::array<const char*, 1> kMigrations{kFirstVersion};

/// Every definition in a database, as one text.
Result<std::string> definitions(const sqlite::Database& database) {
    auto statement =
        database.query("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name");
    if (!statement) return sqlite::blame_file(statement.error());
    std::string text;
    for (;;) {
        auto row = statement->step();
        if (!row) return std::unexpected(row.error());
        if (!*row) return text;
        text += fmt::format("{} {} {} {}\n", statement->text(0), statement->text(1),
                            statement->text(2), statement->text(3));
    }
}

/// What a database of a version must have, made in memory.
Result<std::string> expected_definitions(Migrations known, std::int64_t version) {
    auto blank = sqlite::Database::open(":memory:");
    if (!blank) return std::unexpected(blank.error());
    const auto applied = known.first(static_cast<std::size_t>(version));
    if (auto made = migrate(*blank, 0, applied); !made) return std::unexpected(made.error());
    return definitions(*blank);
}

/// The version whose definitions these are; 0: of none that we know.
Result<std::int64_t> version_by_definitions(const std::string& found, Migrations known) {
    for (auto version = static_cast<std::int64_t>(known.size()); version > 0; --version) {
        auto expected = expected_definitions(known, version);
        if (!expected) return std::unexpected(expected.error());
        if (*expected == found) return version;
    }
    return 0;
}

}  // namespace

Migrations migrations() { return kMigrations; }

Result<std::int64_t> check_schema(const sqlite::Database& database, Migrations known) {
    auto found = definitions(database);
    if (!found) return std::unexpected(found.error());
    auto claimed = database.number("PRAGMA user_version");
    if (!claimed) return std::unexpected(claimed.error());
    auto version = version_by_definitions(*found, known);
    if (!version) return std::unexpected(version.error());
    if (*version > 0 && *version == *claimed) return *version;
    // Tables that we know under a number that we do not: the number is what is damaged.
    if (*version == 0 && *claimed > static_cast<std::int64_t>(known.size())) {
        return fail(
            Code::invalid,
            fmt::format("{}: was written by a newer kubexm-executor (schema {}, this one knows "
                        "up to {}); install that version again",
                        database.file(), *claimed, known.size()));
    }
    return fail(Code::corrupt, fmt::format("{}: its tables are not those of schema version {}",
                                           database.file(), *claimed));
}

Result<> migrate(const sqlite::Database& database, std::int64_t from, Migrations known) {
    for (const char* migration : known.subspan(static_cast<std::size_t>(from))) {
        if (auto done = database.script(migration); !done) return done;
    }
    return database.script(fmt::format("PRAGMA user_version = {}", known.size()).c_str());
}

}  // namespace kubexm::executor::journal
