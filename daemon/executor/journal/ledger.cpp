#include <fmt/format.h>

#include <utility>

#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/journal/database.hpp"
#include "daemon/executor/journal/impl.hpp"
#include "daemon/executor/journal/journal.hpp"
#include "daemon/executor/journal/rows.hpp"

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

Result<LedgerEntry> with_owners(const Database& database, LedgerEntry entry) {
    entry.owners =
        TRY(find_all<LedgerOwner>(database, "WHERE entry = ? ORDER BY sequence", entry.sequence));
    return entry;
}

/// The owner becomes the newest of the entry.
Result<> put_owner(const Database& database, LedgerOwner owner) {
    TRY(database.run("DELETE FROM ledger_owners WHERE entry = ? AND owner = ?", owner.entry,
                     owner.owner));
    owner.sequence = TRY(database.number("SELECT 1 + ifnull(max(sequence), 0) FROM ledger_owners"));
    return put(database, owner);
}

/// Creates or updates the entry of an object and returns its sequence.
Result<std::int64_t> put_entry(const Database& database, const PreparedStep& change) {
    const auto known = TRY(
        find<LedgerEntry>(database, "WHERE type = ? AND target = ?", change.type, change.target));
    LedgerEntry entry = known.value_or(
        LedgerEntry{.type = change.type, .target = change.target, .pre_image = change.pre_image});
    if (!known) {
        entry.sequence = TRY(database.number("SELECT 1 + ifnull(max(sequence), 0) FROM ledger"));
    }
    entry.step = change.step;
    entry.written = change.written;
    if (change.holds) entry.applied = change.step;
    TRY(put(database, entry));
    return entry.sequence;
}

Result<> prepare(const Database& database, std::string_view plan_id, const std::string& owner,
                 const PreparedStep& change) {
    StepRow row = TRY(step_row(database, plan_id, change.index));
    row.ledger = TRY(put_entry(database, change));
    row.step.state = change.holds ? StepState::skipped : StepState::prepared;
    row.step.error.clear();
    TRY(put_owner(database, {.entry = row.ledger,
                             .owner = owner,
                             .step = change.step,
                             .plan_id = std::string(plan_id)}));
    return put(database, row);
}

/// The entry may have been undone since, and its sequence reused for another object.
Result<> mark_applied(const Database& database, std::int64_t sequence, std::string_view plan_id) {
    const auto owner =
        TRY(find<LedgerOwner>(database, "WHERE entry = ? AND plan_id = ?", sequence, plan_id));
    if (!owner) return {};
    auto entry = TRY(find<LedgerEntry>(database, "WHERE sequence = ?", sequence));
    if (!entry) return {};
    entry->applied = owner->step;
    return put(database, *entry);
}

Result<> end_step(const Database& database, std::string_view plan_id, const EndedStep& ended) {
    StepRow row = TRY(step_row(database, plan_id, ended.index));
    if (ended.state == StepState::done && row.ledger != 0) {
        TRY(mark_applied(database, row.ledger, plan_id));
    }
    row.step.state = ended.state;
    row.step.error = bounded_utf8(ended.error, kMaxText);
    return put(database, row);
}

Result<> forget(const Database& database, std::string_view plan_id, const ForgottenStep& step) {
    StepRow row = TRY(step_row(database, plan_id, step.index));
    TRY(database.run("DELETE FROM ledger WHERE sequence = ?", row.ledger));
    if (const auto& before = step.before) TRY(put_with_owners(database, *before));
    row.step.state = StepState::pending;
    row.ledger = 0;
    return put(database, row);
}

Result<> disown(const Database& database, std::string_view owner, const UndoneEntry& undone) {
    const auto row =
        TRY(find<LedgerOwner>(database, "WHERE entry = ? AND owner = ?", undone.sequence, owner));
    auto entry = TRY(find<LedgerEntry>(database, "WHERE sequence = ?", undone.sequence));
    if (!row || !entry) {
        return fail(Code::not_found, fmt::format("{}: no ledger entry {} of {}", database.file(),
                                                 undone.sequence, owner));
    }
    TRY(database.run("DELETE FROM ledger_owners WHERE sequence = ?", row->sequence));
    TRY(
        database.run("DELETE FROM ledger WHERE sequence = ? AND NOT EXISTS"
                     "(SELECT 1 FROM ledger_owners WHERE entry = ?)",
                     undone.sequence, undone.sequence));
    if (!undone.reapplied) return {};
    entry->applied = entry->step;
    return put(database, *entry);
}

}  // namespace

Result<> Journal::record(std::string_view plan_id, const StepChanges& changes) {
    return commit_to_log(impl_->database, [&](const Database& database) -> Result<> {
        const PlanRow row = TRY(plan_row(database, plan_id));
        for (const EndedStep& step : changes.ended) TRY(end_step(database, plan_id, step));
        for (const ForgottenStep& step : changes.forgotten) TRY(forget(database, plan_id, step));
        for (const PreparedStep& step : changes.prepared) {
            TRY(prepare(database, plan_id, row.plan.owner, step));
        }
        return {};
    });
}

Result<std::optional<LedgerEntry>> Journal::ledger_entry(std::string_view type,
                                                         std::string_view target) {
    auto entry =
        TRY(find<LedgerEntry>(impl_->database, "WHERE type = ? AND target = ?", type, target));
    if (!entry) return std::nullopt;
    return with_owners(impl_->database, *std::move(entry));
}

Result<std::vector<LedgerEntry>> Journal::ledger(std::string_view owner) {
    auto entries = TRY(find_all<LedgerEntry>(
        impl_->database,
        "WHERE ? = '' OR sequence IN (SELECT entry FROM ledger_owners WHERE owner = ?) "
        "ORDER BY sequence DESC",
        owner, owner));
    for (LedgerEntry& entry : entries) {
        entry = TRY(with_owners(impl_->database, std::move(entry)));
    }
    return entries;
}

Result<> Journal::undone(std::string_view plan_id, const std::vector<UndoneEntry>& entries,
                         std::string_view stays) {
    return commit_to_log(impl_->database, [&](const Database& database) -> Result<> {
        PlanRow row = TRY(plan_row(database, plan_id));
        for (const UndoneEntry& entry : entries) TRY(disown(database, row.plan.owner, entry));
        row.plan.stays = stays;
        return put(database, row);
    });
}

Result<> Journal::reapplying(std::int64_t sequence, std::string_view step,
                             std::string_view written) {
    return commit(impl_->database, [&](const Database& database) -> Result<> {
        auto entry = TRY(find<LedgerEntry>(database, "WHERE sequence = ?", sequence));
        if (!entry) {
            return fail(Code::not_found,
                        fmt::format("{}: no ledger entry {}", database.file(), sequence));
        }
        entry->step = step;
        entry->written = written;
        return put(database, *entry);
    });
}

Result<Journal::Size> Journal::size() {
    const auto entries = TRY(impl_->database.number("SELECT count(*) FROM ledger"));
    const auto owners =
        TRY(impl_->database.number("SELECT count(DISTINCT owner) FROM ledger_owners"));
    return Size{entries, owners};
}

}  // namespace kubexm::executor
