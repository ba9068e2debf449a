#include <fmt/format.h>

#include <ctime>
#include <utility>

#include "daemon/base/refusal.hpp"
#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/journal/database.hpp"
#include "daemon/executor/journal/impl.hpp"
#include "daemon/executor/journal/journal.hpp"
#include "daemon/executor/journal/rows.hpp"
#include "daemon/model/owner.hpp"

namespace kubexm::executor {

using namespace journal;

namespace {

using sqlite::Database;

Result<PlanRecord> with_steps(const Database& database, PlanRow row) {
    auto steps = TRY(find_all<StepRow>(database, "WHERE plan = ? ORDER BY number", row.sequence));
    for (StepRow& step : steps) row.plan.steps.push_back(std::move(step.step));
    return std::move(row.plan);
}

Result<> check_none_runs(const Database& database) {
    const std::string other = TRY(database.text("SELECT id FROM plans WHERE state = 'running'"));
    if (other.empty()) return {};
    return fail(Code::conflict, fmt::format("plan {} is still running", other));
}

Result<> check_new(const Database& database, std::string_view id) {
    const auto seen =
        TRY(database.number("SELECT EXISTS(SELECT 1 FROM plans WHERE id = ?)"
                            " OR EXISTS(SELECT 1 FROM seen WHERE id = ?)",
                            id, id));
    if (seen == 0) return {};
    return refusal("plan-ids", Code::conflict, fmt::format("plan {} was accepted before", id));
}

Result<> insert_plan(const Database& database, const PlanRecord& plan, std::uint32_t steps) {
    const auto sequence =
        TRY(database.number("SELECT 1 + max(ifnull((SELECT max(sequence) FROM plans), 0),"
                            " ifnull((SELECT max(sequence) FROM seen), 0))"));
    TRY(put(database, PlanRow{sequence, steps, plan}));
    for (std::uint32_t index = 0; index < steps; ++index) {
        TRY(put(database, StepRow{sequence, {.index = index}}));
    }
    return {};
}

/// Adds to the row of failures with this hash, or starts a new row after another error.
Result<> count_failure(const Database& database, PlanRow& row) {
    PlanRecord& plan = row.plan;
    const auto found = TRY(find<FailureRow>(database, "WHERE hash = ?", plan.hash));
    const FailureRow known = found.value_or(FailureRow{});
    plan.failures = known.error == plan.last_error ? known.count + 1 : 1;
    return put(database, FailureRow{plan.hash, row.sequence, plan.last_error, plan.failures,
                                    plan.changed_at});
}

/// From now on this plan is the last one for its owner and purpose. The last one that was done
/// stays beside a newer one that is not: the host is as that one left it.
Result<> put_outcome(const Database& database, const PlanRecord& plan) {
    const std::string_view stays = plan.state == PlanState::done ? "" : name_of(PlanState::done);
    TRY(database.run("DELETE FROM outcomes WHERE owner = ? AND purpose = ? AND state <> ?",
                     plan.owner, name_of(plan.purpose), stays));
    const auto sequence = TRY(database.number("SELECT 1 + ifnull(max(sequence), 0) FROM outcomes"));
    return put(database, OutcomeRecord{.sequence = sequence,
                                       .owner = plan.owner,
                                       .purpose = plan.purpose,
                                       .plan_id = plan.id,
                                       .wanted = plan.wanted,
                                       .uid = plan.uid,
                                       .state = plan.state,
                                       .error = plan.last_error,
                                       .stays = plan.stays,
                                       .at = plan.changed_at});
}

/// The end of an undo, and the objects that stayed, are known until the next one has ended: an
/// owner who is gone does not come back while the rest is tried again.
Result<bool> goes_on_with_undo(const Database& database, const PlanRecord& plan) {
    if (plan.purpose != PlanPurpose::release) return false;
    const auto newest = TRY(find<OutcomeRecord>(
        database, "WHERE owner = ? ORDER BY sequence DESC LIMIT 1", plan.owner));
    return newest && newest->purpose == PlanPurpose::release && newest->state != PlanState::running;
}

/// Those of root and those of others are counted apart: others must not push out root's.
Result<> drop_plans(const Database& database, bool is_root, const Journal::Limits& limits) {
    return database.run(
        "INSERT INTO seen(sequence, id, root) SELECT sequence, id, uid = 0 FROM plans "
        "WHERE state <> 'running' AND (uid = 0) = ? "
        "ORDER BY sequence DESC LIMIT -1 OFFSET ?",
        is_root, static_cast<std::int64_t>(limits.finished_plans));
}

/// Those of machines are counted apart, too: kubexmd must not join a machine again that root has
/// released, however many plans of its own root has carried out since.
Result<> drop_outcomes(const Database& database, bool is_root, const Journal::Limits& limits) {
    for (const bool is_machine : {false, true}) {
        TRY(database.run(
            "DELETE FROM outcomes WHERE sequence IN (SELECT sequence FROM outcomes WHERE owner NOT "
            "IN (SELECT owner FROM ledger_owners) AND (uid = 0) = ? "
            "AND (substr(owner, 1, length(?)) = ?) = ? ORDER BY sequence DESC LIMIT -1 OFFSET ?)",
            is_root, model::kMachinePrefix, model::kMachinePrefix, is_machine,
            static_cast<std::int64_t>(limits.outcomes)));
    }
    return {};
}

Result<> drop_old_ids(const Database& database, std::int64_t limit) {
    TRY(database.run(
        "DELETE FROM seen WHERE root = 0 AND sequence <= (SELECT max(sequence) FROM seen) - ?",
        limit));
    return database.run(
        "DELETE FROM seen WHERE sequence IN (SELECT sequence FROM seen WHERE root = 1 "
        "ORDER BY sequence DESC LIMIT -1 OFFSET ?)",
        limit);
}

Result<> drop_old(const Database& database, const Journal::Limits& limits) {
    for (const bool is_root : {false, true}) {
        TRY(drop_plans(database, is_root, limits));
        TRY(drop_outcomes(database, is_root, limits));
    }
    TRY(database.run("DELETE FROM plans WHERE sequence IN (SELECT sequence FROM seen)"));
    TRY(drop_old_ids(database, limits.known_ids));
    return database.run(
        "DELETE FROM failures WHERE hash IN "
        "(SELECT hash FROM failures ORDER BY plan DESC LIMIT -1 OFFSET ?)",
        static_cast<std::int64_t>(limits.finished_plans));
}

}  // namespace

Result<> Journal::begin(const PlanRecord& plan, std::uint32_t steps) {
    return commit(impl_->database, [&](const Database& database) -> Result<> {
        TRY(check_new(database, plan.id));
        TRY(check_none_runs(database));
        PlanRecord record = plan;
        record.state = PlanState::running;
        record.failures = 0;
        record.last_error.clear();
        record.started_at = record.changed_at = std::time(nullptr);
        TRY(insert_plan(database, record, steps));
        const bool is_known = TRY(goes_on_with_undo(database, record));
        return is_known ? Result<>() : put_outcome(database, record);
    });
}

Result<> Journal::is_new(std::string_view id) { return check_new(impl_->database, id); }

Result<std::optional<PlanRecord>> Journal::running() {
    auto row = TRY(find<PlanRow>(impl_->database, "WHERE state = 'running'"));
    if (!row) return std::nullopt;
    return with_steps(impl_->database, *std::move(row));
}

Result<PlanRecord> Journal::plan(std::string_view id) {
    auto row = TRY(plan_row(impl_->database, id));
    return with_steps(impl_->database, std::move(row));
}

Result<std::vector<PlanRecord>> Journal::history(std::uint32_t limit) {
    auto rows = TRY(find_all<PlanRow>(impl_->database, "ORDER BY sequence DESC LIMIT ?", limit));
    std::vector<PlanRecord> plans;
    for (PlanRow& row : rows) {
        auto plan = TRY(with_steps(impl_->database, std::move(row)));
        plans.push_back(std::move(plan));
    }
    return plans;
}

Result<> Journal::end(std::string_view id, const End& end) {
    return commit(impl_->database, [&](const Database& database) -> Result<> {
        PlanRow row = TRY(plan_row(database, id));
        row.plan.state = end.state;
        row.plan.last_error = bounded_utf8(end.error, kMaxText);
        row.plan.stays = end.stays;
        row.plan.changed_at = std::time(nullptr);
        const bool is_undo = row.plan.purpose == PlanPurpose::release;
        if (end.state == PlanState::failed && end.counts && !is_undo) {
            TRY(count_failure(database, row));
        }
        if (end.state == PlanState::done) {
            TRY(database.run("DELETE FROM failures WHERE hash = ?", row.plan.hash));
        }
        TRY(put(database, row));
        TRY(put_outcome(database, row.plan));
        return drop_old(database, impl_->limits);
    });
}

Result<std::vector<OutcomeRecord>> Journal::outcomes() {
    return find_all<OutcomeRecord>(impl_->database, "ORDER BY sequence DESC");
}

Result<Journal::Failures> Journal::failures(std::string_view hash, std::string_view error) {
    const auto found = TRY(find<FailureRow>(impl_->database, "WHERE hash = ? AND error = ?", hash,
                                            bounded_utf8(error, kMaxText)));
    const FailureRow row = found.value_or(FailureRow{});
    return Failures{row.count, row.last_at};
}

}  // namespace kubexm::executor
