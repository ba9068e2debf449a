#include "daemon/executor/journal/recovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "daemon/base/process_lock.hpp"
#include "daemon/base/try.hpp"
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

/// The state directory with the lock of its journal.
struct LockedDirectory {
    StateDirectory directory;
    ProcessLock lock;

    static Result<LockedDirectory> open(const std::string& path) {
        auto directory = TRY(StateDirectory::open(path));
        auto lock = TRY(ProcessLock::take(directory, kLockFile));
        return LockedDirectory{std::move(directory), std::move(lock)};
    }
};

/// Opens the copy with a usable schema.
Result<sqlite::Database> open_readable(const RecoveryCopy& copy, std::vector<std::string>& damage) {
    {
        auto database = TRY(copy.open());
        auto version = check_schema(database, migrations());
        if (version) return database;
        if (version.error().code != Code::corrupt) return std::unexpected(version.error());
        damage.push_back(version.error().what);
    }
    TRY(copy.replace_first_page());
    return copy.open();
}

Result<ReadableRows> read_rows(const StateDirectory& directory, const std::string& file) {
    ReadableRows rows;
    RecoveryCopy copy(directory);
    TRY(copy.make(file));
    const auto database = TRY(open_readable(copy, rows.damage));
    collect(database, rows);
    return rows;
}

Recovered to_recovered(std::string file, ReadableRows rows) {
    Recovered found{.file = std::move(file), .damage = std::move(rows.damage)};
    for (auto& [sequence, entry] : rows.ledger) found.ledger.push_back(std::move(entry));
    for (auto& [sequence, row] : rows.plans) found.plans.push_back(std::move(row.plan));
    std::reverse(found.ledger.begin(), found.ledger.end());
    std::reverse(found.plans.begin(), found.plans.end());
    return found;
}

Result<std::string> choose_file(const StateDirectory& directory, const std::string& file) {
    const auto files = TRY(quarantined_files(directory));
    const auto chosen = std::find_if(files.begin(), files.end(), [&](const std::string& name) {
        return file.empty() || name == file;
    });
    if (chosen != files.end()) return *chosen;
    return fail(Code::not_found,
                fmt::format("{}: no quarantined journal {}", directory.path(), file));
}

Result<std::string> require_waiting_file(const StateDirectory& directory) {
    auto file = TRY(waiting_file(directory));
    if (file) return *std::move(file);
    return fail(Code::not_found, directory.path() + ": no damaged journal waits for a decision");
}

/// The waiting file; empty for a journal that is missing although the vault has content.
Result<std::string> file_to_discard(const StateDirectory& directory) {
    const bool exists = TRY(directory.has(kDatabaseFile));
    auto file = require_waiting_file(directory);
    if (file || exists) return file;
    const bool lost = TRY(has_content(directory));
    return lost ? Result<std::string>("") : file;
}

constexpr const char* kInterrupted = "the journal was damaged while this plan was running";

Result<> put_outcome(const sqlite::Database& database, OutcomeRecord row) {
    if (row.state == PlanState::running) {
        row.state = PlanState::failed;
        row.error = kInterrupted;
    }
    return put(database, row);
}

Result<> put_plan(const sqlite::Database& database, PlanRow row) {
    if (row.plan.state == PlanState::running) {
        row.plan.state = PlanState::failed;
        row.plan.last_error = kInterrupted;
    }
    TRY(put(database, row));
    for (const StepRecord& step : row.plan.steps) TRY(put(database, StepRow{row.sequence, step}));
    return {};
}

Result<> fill(const sqlite::Database& database, const ReadableRows& rows) {
    for (const auto& [sequence, entry] : rows.ledger) TRY(put_with_owners(database, entry));
    for (const auto& [sequence, row] : rows.outcomes) TRY(put_outcome(database, row));
    for (const auto& [sequence, row] : rows.plans) TRY(put_plan(database, row));
    for (const auto& [sequence, id] : rows.seen) {
        // Whose it was is lost: it is kept as long as one of root.
        TRY(database.run("INSERT OR IGNORE INTO seen(sequence, id, root) VALUES(?, ?, 1)", sequence,
                         id));
    }
    return {};
}

Result<> create_successor(const StateDirectory& directory, const ReadableRows& rows,
                          const AuditEvent& decision) {
    return create_database(directory, [&](const sqlite::Database& database) -> Result<> {
        TRY(fill(database, rows));
        return append_audit(database, decision, Journal::Limits{});
    });
}

}  // namespace

Result<std::string> quarantine(const std::string& directory) {
    const auto state = TRY(LockedDirectory::open(directory));
    return quarantine_file(state.directory);
}

Result<Recovered> recover(const std::string& directory, const std::string& file) {
    const auto state = TRY(LockedDirectory::open(directory));
    std::string chosen = TRY(choose_file(state.directory, file));
    auto rows = TRY(read_rows(state.directory, chosen));
    return to_recovered(std::move(chosen), std::move(rows));
}

Result<Recovered> restore(const std::string& directory, std::uint32_t uid, std::int64_t pid) {
    const auto state = TRY(LockedDirectory::open(directory));
    std::string file = TRY(require_waiting_file(state.directory));
    auto rows = TRY(read_rows(state.directory, file));
    TRY(preserve_content(state.directory, preserved_content_of(file)));
    const std::string detail = fmt::format("from {}: {} ledger entries, {} plans", file,
                                           rows.ledger.size(), rows.plans.size());
    TRY(create_successor(state.directory, rows, {uid, pid, "journal restored", detail}));
    return to_recovered(std::move(file), std::move(rows));
}

Result<> discard(const std::string& directory, std::uint32_t uid, std::int64_t pid) {
    const auto state = TRY(LockedDirectory::open(directory));
    const std::string file = TRY(file_to_discard(state.directory));
    const std::string content = preserved_content_of(file);
    TRY(preserve_content(state.directory, content));
    const std::string detail = fmt::format("kept {} and {}", file, content);
    return create_successor(state.directory, {}, {uid, pid, "journal discarded", detail});
}

}  // namespace kubexm::executor
