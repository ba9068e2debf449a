#include <fmt/format.h>

#include <utility>

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
    auto found = find<StepRow>(
        database, "WHERE plan = (SELECT sequence FROM plans WHERE id = ?) AND number = ?", plan_id,
        index);
    if (!found) return std::unexpected(found.error());
    if (std::optional<StepRow>& row = *found) return *std::move(row);
    return fail(Code::not_found,
                fmt::format("plan {} with a step {} is not known", plan_id, index));
}

/// The entry of an object, made new or brought up to date; returns its sequence.
Result<std::int64_t> remember(const Database& database, std::string_view plan_id,
                              const LedgerEntry& change) {
    auto known =
        find<LedgerEntry>(database, "WHERE type = ? AND target = ?", change.type, change.target);
    if (!known) return std::unexpected(known.error());
    auto sequence = database.number("SELECT 1 + ifnull(max(sequence), 0) FROM ledger");
    if (!sequence) return std::unexpected(sequence.error());
    LedgerEntry fresh = change;
    fresh.sequence = *sequence;
    fresh.applied.clear();
    LedgerEntry entry = known->value_or(std::move(fresh));
    entry.owner = change.owner;
    entry.step = change.step;
    entry.plan_id = plan_id;
    if (auto done = put(database, entry); !done) return std::unexpected(done.error());
    return entry.sequence;
}

/// The entry may be gone: taken back, and its sequence given to another object since.
Result<> mark_applied(const Database& database, std::int64_t sequence, std::string_view plan_id) {
    auto found =
        find<LedgerEntry>(database, "WHERE sequence = ? AND plan_id = ?", sequence, plan_id);
    if (!found) return std::unexpected(found.error());
    std::optional<LedgerEntry>& entry = *found;
    if (!entry) return {};
    entry->applied = entry->step;
    return put(database, *entry);
}

}  // namespace

Result<> Journal::prepared(std::string_view plan_id, std::uint32_t index,
                           const LedgerEntry& entry) {
    return commit(impl_->database, [&](const Database& database) -> Result<> {
        auto row = step_row(database, plan_id, index);
        if (!row) return std::unexpected(row.error());
        auto sequence = remember(database, plan_id, entry);
        if (!sequence) return std::unexpected(sequence.error());
        row->ledger = *sequence;
        row->step.state = StepState::prepared;
        return put(database, *row);
    });
}

Result<> Journal::finished(std::string_view plan_id, std::uint32_t index, StepState state,
                           std::string_view error) {
    return commit(impl_->database, [&](const Database& database) -> Result<> {
        auto row = step_row(database, plan_id, index);
        if (!row) return std::unexpected(row.error());
        if (state == StepState::done && row->ledger != 0) {
            if (auto done = mark_applied(database, row->ledger, plan_id); !done) return done;
        }
        row->step.state = state;
        row->step.error = clipped(error);
        return put(database, *row);
    });
}

}  // namespace kubexm::executor
