#include <fmt/format.h>

#include <utility>

#include "daemon/base/try.hpp"
#include "daemon/executor/journal/database.hpp"
#include "daemon/executor/journal/impl.hpp"
#include "daemon/executor/journal/journal.hpp"
#include "daemon/executor/journal/rows.hpp"
#include "daemon/executor/journal/text.hpp"

namespace kubexm::executor {

using namespace journal;

namespace {

using sqlite::Database;

Result<StepRow> step_row(const Database& database, std::string_view plan_id, std::uint32_t index) {
    auto row = TRY(find<StepRow>(
        database, "WHERE plan = (SELECT sequence FROM plans WHERE id = ?) AND number = ?", plan_id,
        index));
    if (row) return *std::move(row);
    return fail(Code::not_found, fmt::format("plan {}: no step {}", plan_id, index));
}

/// Creates or updates the entry of an object and returns its sequence.
Result<std::int64_t> put_entry(const Database& database, std::string_view plan_id,
                               const LedgerEntry& change) {
    const auto known = TRY(
        find<LedgerEntry>(database, "WHERE type = ? AND target = ?", change.type, change.target));
    LedgerEntry entry = known.value_or(change);
    if (!known) {
        entry.sequence = TRY(database.number("SELECT 1 + ifnull(max(sequence), 0) FROM ledger"));
        entry.applied.clear();
    }
    entry.owner = change.owner;
    entry.step = change.step;
    entry.plan_id = plan_id;
    TRY(put(database, entry));
    return entry.sequence;
}

/// The entry may have been undone since, and its sequence reused for another object.
Result<> mark_applied(const Database& database, std::int64_t sequence, std::string_view plan_id) {
    auto entry =
        TRY(find<LedgerEntry>(database, "WHERE sequence = ? AND plan_id = ?", sequence, plan_id));
    if (!entry) return {};
    entry->applied = entry->step;
    return put(database, *entry);
}

}  // namespace

Result<> Journal::prepared(std::string_view plan_id, std::uint32_t index,
                           const LedgerEntry& entry) {
    return commit(impl_->database, [&](const Database& database) -> Result<> {
        StepRow row = TRY(step_row(database, plan_id, index));
        row.ledger = TRY(put_entry(database, plan_id, entry));
        row.step.state = StepState::prepared;
        return put(database, row);
    });
}

Result<> Journal::finished(std::string_view plan_id, std::uint32_t index, StepState state,
                           std::string_view error) {
    return commit(impl_->database, [&](const Database& database) -> Result<> {
        StepRow row = TRY(step_row(database, plan_id, index));
        if (state == StepState::done && row.ledger != 0) {
            TRY(mark_applied(database, row.ledger, plan_id));
        }
        row.step.state = state;
        row.step.error = clipped(error);
        return put(database, row);
    });
}

Result<std::optional<LedgerEntry>> Journal::ledger_entry(std::string_view type,
                                                         std::string_view target) {
    return find<LedgerEntry>(impl_->database, "WHERE type = ? AND target = ?", type, target);
}

Result<std::vector<LedgerEntry>> Journal::ledger(std::string_view owner) {
    return find_all<LedgerEntry>(impl_->database,
                                 "WHERE ? = '' OR owner = ? ORDER BY sequence DESC", owner, owner);
}

Result<> Journal::undone(std::int64_t sequence) {
    return commit(impl_->database, [&](const Database& database) -> Result<> {
        const auto entry = TRY(find<LedgerEntry>(database, "WHERE sequence = ?", sequence));
        if (entry) return database.run("DELETE FROM ledger WHERE sequence = ?", sequence);
        return fail(Code::not_found,
                    fmt::format("{}: no ledger entry {}", database.file(), sequence));
    });
}

}  // namespace kubexm::executor
