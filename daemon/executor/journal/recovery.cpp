#include "daemon/executor/journal/recovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "daemon/base/process_lock.hpp"
#include "daemon/executor/journal/audit.hpp"
#include "daemon/executor/journal/database.hpp"
#include "daemon/executor/journal/journal.hpp"
#include "daemon/executor/journal/preserved_content.hpp"
#include "daemon/executor/journal/quarantine.hpp"
#include "daemon/executor/journal/readable_rows.hpp"
#include "daemon/executor/journal/recovery_copy.hpp"
#include "daemon/executor/journal/rows.hpp"
#include "daemon/executor/journal/schema.hpp"

namespace kubexm::executor {

using namespace journal;

namespace {

/// The journal's directory while it is ours.
struct Place {
    StateDirectory directory;
    ProcessLock lock;

    static Result<Place> take(const std::string& path) {
        auto directory = StateDirectory::open(path);
        if (!directory) return std::unexpected(directory.error());
        auto lock = ProcessLock::take(*directory, kLockFile);
        if (!lock) return std::unexpected(lock.error());
        return Place{*std::move(directory), *std::move(lock)};
    }
};

/// The copy, open, with definitions that can be used.
Result<sqlite::Database> open_readable(const RecoveryCopy& copy, std::vector<std::string>& damage) {
    {
        auto database = copy.open();
        if (!database) return database;
        auto version = check_schema(*database, migrations());
        if (version) return database;
        if (version.error().code != Code::corrupt) return std::unexpected(version.error());
        damage.push_back(version.error().what);
    }
    if (auto replaced = copy.replace_first_page(); !replaced) {
        return std::unexpected(replaced.error());
    }
    return copy.open();
}

Result<ReadableRows> read_remains(const StateDirectory& directory, const std::string& file) {
    ReadableRows rows;
    RecoveryCopy copy(directory);
    if (auto made = copy.make(file); !made) return std::unexpected(made.error());
    auto database = open_readable(copy, rows.damage);
    if (!database) return std::unexpected(database.error());
    collect(*database, rows);
    return rows;
}

Recovered to_salvage(std::string file, ReadableRows rows) {
    Recovered found{.file = std::move(file), .damage = std::move(rows.damage)};
    for (auto& [sequence, entry] : rows.ledger) found.ledger.push_back(std::move(entry));
    for (auto& [sequence, row] : rows.plans) found.plans.push_back(std::move(row.plan));
    std::reverse(found.ledger.begin(), found.ledger.end());
    std::reverse(found.plans.begin(), found.plans.end());
    return found;
}

Result<std::string> chosen_file(const StateDirectory& directory, const std::string& file) {
    auto files = quarantined_files(directory);
    if (!files) return std::unexpected(files.error());
    const auto chosen = std::find_if(files->begin(), files->end(), [&](const std::string& name) {
        return file.empty() || name == file;
    });
    if (chosen != files->end()) return *chosen;
    return fail(Code::not_found,
                fmt::format("{}: no journal {} was set aside", directory.path(), file));
}

Result<std::string> waiting_one(const StateDirectory& directory) {
    auto waiting = waiting_file(directory);
    if (!waiting) return std::unexpected(waiting.error());
    if (std::optional<std::string>& file = *waiting) return *std::move(file);
    return fail(Code::not_found, directory.path() + ": no damaged journal waits for a decision");
}

/// Also a journal that is lost altogether, which has no name.
Result<std::string> to_discard(const StateDirectory& directory) {
    auto there = directory.has(kDatabaseFile);
    if (!there) return std::unexpected(there.error());
    auto file = waiting_one(directory);
    if (file || *there) return file;
    auto lost = has_content(directory);
    if (!lost) return std::unexpected(lost.error());
    return *lost ? Result<std::string>("") : file;
}

Result<> put_plan(const sqlite::Database& database, PlanRow row) {
    if (row.plan.state == PlanState::running) {
        row.plan.state = PlanState::failed;
        row.plan.last_error = "the journal was damaged while this plan ran";
    }
    if (auto done = put(database, row); !done) return done;
    for (const StepRecord& step : row.plan.steps) {
        if (auto done = put(database, StepRow{row.sequence, step}); !done) return done;
    }
    return {};
}

Result<> fill(const sqlite::Database& database, const ReadableRows& rows) {
    for (const auto& [sequence, entry] : rows.ledger) {
        if (auto done = put(database, entry); !done) return done;
    }
    for (const auto& [sequence, row] : rows.plans) {
        if (auto done = put_plan(database, row); !done) return done;
    }
    for (const auto& [sequence, id] : rows.seen) {
        constexpr auto sql = "INSERT OR IGNORE INTO seen(sequence, id) VALUES(?, ?)";
        if (auto done = database.run(sql, sequence, id); !done) return done;
    }
    return {};
}

/// The successor, with who wanted it.
Result<> succeed(const StateDirectory& directory, const ReadableRows& rows,
                 const AuditEvent& decision) {
    return create_database(directory, [&](const sqlite::Database& database) -> Result<> {
        if (auto filled = fill(database, rows); !filled) return filled;
        return append_audit(database, decision, Journal::Limits{}.audit_records);
    });
}

}  // namespace

Result<std::string> quarantine(const std::string& directory) {
    auto place = Place::take(directory);
    if (!place) return std::unexpected(place.error());
    return quarantine_file(place->directory);
}

Result<std::optional<std::string>> awaiting_decision(const std::string& directory) {
    auto place = StateDirectory::open(directory);
    if (!place) return std::unexpected(place.error());
    return waiting_file(*place);
}

Result<Recovered> recover(const std::string& directory, const std::string& file) {
    auto place = Place::take(directory);
    if (!place) return std::unexpected(place.error());
    auto chosen = chosen_file(place->directory, file);
    if (!chosen) return std::unexpected(chosen.error());
    auto rows = read_remains(place->directory, *chosen);
    if (!rows) return std::unexpected(rows.error());
    return to_salvage(*chosen, *std::move(rows));
}

Result<Recovered> restore(const std::string& directory, std::uint32_t uid, std::int64_t pid) {
    auto place = Place::take(directory);
    if (!place) return std::unexpected(place.error());
    auto file = waiting_one(place->directory);
    if (!file) return std::unexpected(file.error());
    auto rows = read_remains(place->directory, *file);
    if (!rows) return std::unexpected(rows.error());
    if (auto kept = preserve_content(place->directory, content_beside(*file)); !kept) {
        return std::unexpected(kept.error());
    }
    const std::string detail = fmt::format("from {}: {} entries of the ledger, {} plans", *file,
                                           rows->ledger.size(), rows->plans.size());
    auto made = succeed(place->directory, *rows, {uid, pid, "journal restored", detail});
    if (!made) return std::unexpected(made.error());
    return to_salvage(*file, *std::move(rows));
}

Result<> discard(const std::string& directory, std::uint32_t uid, std::int64_t pid) {
    auto place = Place::take(directory);
    if (!place) return std::unexpected(place.error());
    auto file = to_discard(place->directory);
    if (!file) return std::unexpected(file.error());
    const std::string content = content_beside(*file);
    if (auto kept = preserve_content(place->directory, content); !kept) return kept;
    const std::string detail = fmt::format("kept are {} and {}", *file, content);
    return succeed(place->directory, {}, {uid, pid, "journal discarded", detail});
}

}  // namespace kubexm::executor
