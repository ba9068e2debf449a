#include <fmt/format.h>

#include <ctime>
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
    return fail(Code::conflict, fmt::format("plan {} was accepted before", id));
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

/// What was last done for the owner and the purpose of a plan is this plan from now on.
Result<> put_outcome(const Database& database, const PlanRecord& plan) {
    const auto known = TRY(find<OutcomeRecord>(database, "WHERE owner = ? AND purpose = ?",
                                               plan.owner, name_of(plan.purpose)));
    if (known) TRY(database.run("DELETE FROM outcomes WHERE sequence = ?", known->sequence));
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

Result<> drop_old(const Database& database, const Journal::Limits& limits) {
    const std::int64_t plans = limits.finished_plans;
    TRY(database.run(
        "INSERT INTO seen(sequence, id) SELECT sequence, id FROM plans WHERE state <> 'running' "
        "ORDER BY sequence DESC LIMIT -1 OFFSET ?",
        plans));
    TRY(database.run("DELETE FROM plans WHERE sequence IN (SELECT sequence FROM seen)"));
    TRY(database.run("DELETE FROM seen WHERE sequence <= (SELECT max(sequence) FROM seen) - ?",
                     static_cast<std::int64_t>(limits.known_ids)));
    TRY(database.run(
        "DELETE FROM outcomes WHERE sequence IN (SELECT sequence FROM outcomes WHERE owner NOT IN "
        "(SELECT owner FROM ledger_owners) ORDER BY sequence DESC LIMIT -1 OFFSET ?)",
        static_cast<std::int64_t>(limits.outcomes)));
    return database.run(
        "DELETE FROM failures WHERE hash IN "
        "(SELECT hash FROM failures ORDER BY plan DESC LIMIT -1 OFFSET ?)",
        plans);
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
        return put_outcome(database, record);
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
        row.plan.last_error = clipped(end.error);
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
    const auto found = TRY(
        find<FailureRow>(impl_->database, "WHERE hash = ? AND error = ?", hash, clipped(error)));
    const FailureRow row = found.value_or(FailureRow{});
    return Failures{row.count, row.last_at};
}

}  // namespace kubexm::executor
