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

Result<PlanRecord> with_steps(const Database& database, PlanRow row) {
    auto steps = find_all<StepRow>(database, "WHERE plan = ? ORDER BY number", row.sequence);
    if (!steps) return std::unexpected(steps.error());
    for (StepRow& step : *steps) row.plan.steps.push_back(std::move(step.step));
    return std::move(row.plan);
}

Result<PlanRow> plan_row(const Database& database, std::string_view id) {
    auto found = find<PlanRow>(database, "WHERE id = ?", id);
    if (!found) return std::unexpected(found.error());
    if (std::optional<PlanRow>& row = *found) return *std::move(row);
    return fail(Code::not_found, fmt::format("plan {} is not known", id));
}

Result<> only_one_runs(const Database& database, std::string_view id) {
    auto other = database.text("SELECT id FROM plans WHERE state = 'running' AND id <> ?", id);
    if (!other) return std::unexpected(other.error());
    if (other->empty()) return {};
    return fail(Code::conflict, fmt::format("plan {} is still running", *other));
}

Result<> not_seen(const Database& database, std::string_view id) {
    auto seen = database.number(
        "SELECT EXISTS(SELECT 1 FROM plans WHERE id = ?)"
        " OR EXISTS(SELECT 1 FROM seen WHERE id = ?)",
        id, id);
    if (!seen) return std::unexpected(seen.error());
    if (*seen == 0) return {};
    return fail(Code::conflict, fmt::format("plan {} was taken in before", id));
}

Result<> insert_plan(const Database& database, const PlanRecord& plan, std::uint32_t steps) {
    auto sequence = database.number(
        "SELECT 1 + max(ifnull((SELECT max(sequence) FROM plans), 0),"
        " ifnull((SELECT max(sequence) FROM seen), 0))");
    if (!sequence) return std::unexpected(sequence.error());
    if (auto done = put(database, PlanRow{*sequence, steps, plan}); !done) return done;
    for (std::uint32_t index = 0; index < steps; ++index) {
        if (auto done = put(database, StepRow{*sequence, {.index = index}}); !done) return done;
    }
    return {};
}

/// One failure more in the row, or the first of a new one.
Result<> count_failure(const Database& database, PlanRow& row) {
    PlanRecord& plan = row.plan;
    auto found =
        find<FailureRow>(database, "WHERE hash = ? AND undoing = ?", plan.hash, plan.undoing);
    if (!found) return std::unexpected(found.error());
    const FailureRow known = found->value_or(FailureRow{});
    plan.failures = known.error == plan.last_error ? known.count + 1 : 1;
    return put(database, FailureRow{plan.hash, plan.undoing, row.sequence, plan.last_error,
                                    plan.failures, plan.changed_at});
}

Result<> end_failures(const Database& database, PlanRecord& plan) {
    plan.failures = 0;
    const bool undoing = plan.undoing || plan.state == PlanState::undone;
    return database.run("DELETE FROM failures WHERE hash = ? AND undoing = ?", plan.hash, undoing);
}

/// What else a state means for the journal.
Result<> enter_state(const Database& database, PlanRow& row) {
    switch (row.plan.state) {
        case PlanState::running:
            return only_one_runs(database, row.plan.id);
        case PlanState::failed:
            return count_failure(database, row);
        case PlanState::done:
        case PlanState::undone:
            return end_failures(database, row.plan);
        case PlanState::cancelled:
            return {};
    }
    std::unreachable();
}

Result<> drop_old(const Database& database, const Journal::Limits& limits) {
    const std::int64_t plans = limits.finished_plans;
    auto remembered = database.run(
        "INSERT INTO seen(sequence, id) SELECT sequence, id FROM plans WHERE state <> 'running' "
        "ORDER BY sequence DESC LIMIT -1 OFFSET ?",
        plans);
    if (!remembered) return remembered;
    auto dropped = database.run("DELETE FROM plans WHERE sequence IN (SELECT sequence FROM seen)");
    if (!dropped) return dropped;
    auto forgotten =
        database.run("DELETE FROM seen WHERE sequence <= (SELECT max(sequence) FROM seen) - ?",
                     static_cast<std::int64_t>(limits.known_ids));
    if (!forgotten) return forgotten;
    return database.run(
        "DELETE FROM failures WHERE (hash, undoing) IN "
        "(SELECT hash, undoing FROM failures ORDER BY plan DESC LIMIT -1 OFFSET ?)",
        plans);
}

}  // namespace

Result<> Journal::begin(const PlanRecord& plan, std::uint32_t steps) {
    return commit(impl_->database, [&](const Database& database) -> Result<> {
        if (auto good = not_seen(database, plan.id); !good) return good;
        if (auto good = only_one_runs(database, plan.id); !good) return good;
        PlanRecord record = plan;
        record.state = PlanState::running;
        record.failures = 0;
        record.last_error.clear();
        record.started_at = record.changed_at = now();
        return insert_plan(database, record, steps);
    });
}

Result<> Journal::is_new(std::string_view id) { return not_seen(impl_->database, id); }

Result<std::optional<PlanRecord>> Journal::running() {
    auto found = find<PlanRow>(impl_->database, "WHERE state = 'running'");
    if (!found) return std::unexpected(found.error());
    std::optional<PlanRow>& row = *found;
    if (!row) return std::nullopt;
    return with_steps(impl_->database, *std::move(row));
}

Result<PlanRecord> Journal::plan(std::string_view id) {
    auto row = plan_row(impl_->database, id);
    if (!row) return std::unexpected(row.error());
    return with_steps(impl_->database, *std::move(row));
}

Result<std::vector<PlanRecord>> Journal::history(std::uint32_t limit) {
    auto rows = find_all<PlanRow>(impl_->database, "ORDER BY sequence DESC LIMIT ?", limit);
    if (!rows) return std::unexpected(rows.error());
    std::vector<PlanRecord> plans;
    for (PlanRow& row : *rows) {
        auto plan = with_steps(impl_->database, std::move(row));
        if (!plan) return std::unexpected(plan.error());
        plans.push_back(*std::move(plan));
    }
    return plans;
}

Result<> Journal::set_plan_state(std::string_view id, PlanState state, bool undoing,
                                 std::string_view error, bool counts) {
    return commit(impl_->database, [&](const Database& database) -> Result<> {
        auto row = plan_row(database, id);
        if (!row) return std::unexpected(row.error());
        row->plan.state = state;
        row->plan.undoing = undoing;
        row->plan.last_error = clipped(error);
        row->plan.changed_at = now();
        const bool passing = state == PlanState::failed && !counts;
        if (auto done = passing ? Result<>{} : enter_state(database, *row); !done) return done;
        if (auto done = put(database, *row); !done) return done;
        return drop_old(database, impl_->limits);
    });
}

Result<Journal::Failures> Journal::failures(std::string_view hash, std::string_view error) {
    auto found = find<FailureRow>(impl_->database,
                                  "WHERE hash = ? AND error = ? ORDER BY count DESC LIMIT 1", hash,
                                  clipped(error));
    if (!found) return std::unexpected(found.error());
    const FailureRow row = found->value_or(FailureRow{});
    return Failures{row.count, row.last_at};
}

}  // namespace kubexm::executor
