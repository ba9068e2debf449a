#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/engine/ledger_steps.hpp"
#include "daemon/executor/engine/undo.hpp"
#include "daemon/executor/steps/steps.hpp"

// Objects that other owners still want.

namespace kubexm::executor {

/// The host is as the remaining owner wants it, or is changed when all else is undone.
Result<> LedgerUndo::leave_to_others(const LedgerEntry& entry, const LedgerOwner& other) {
    const bool as_wanted = other.step == entry.applied && entry.step == entry.applied;
    if (!as_wanted || is_undone_last(entry)) {
        wanted_by_others_.push_back(entry);
        return {};
    }
    run_.begin(index_of(entry), fmt::format("keep for {}: {}", other.owner, object_of(entry)));
    run_.report(StepState::done, "");
    undone_.push_back({entry.sequence});
    return {};
}

/// In the order in which the remaining owners' plans applied their steps.
Result<> LedgerUndo::reapply_wanted() {
    const auto order = [&](const LedgerEntry& entry) { return next_owner_of(entry)->sequence; };
    std::ranges::sort(wanted_by_others_, {}, order);
    std::ranges::stable_partition(wanted_by_others_, std::not_fn(is_undone_last));
    for (const LedgerEntry& entry : wanted_by_others_) {
        stopped_ = run_.should_stop();
        if (stopped_) return {};
        TRY(reapply(entry));
    }
    return {};
}

Result<> LedgerUndo::reapply(const LedgerEntry& entry) {
    const LedgerOwner& other = *next_owner_of(entry);
    auto step = model::step_from_json(other.step);
    if (!step) {
        note_failure(entry, std::nullopt,
                     {Code::corrupt, "step in the ledger: " + step.error().what});
        return {};
    }
    const model::Description about = model::describe(*step);
    run_.begin(index_of(entry), fmt::format("for {}: {}", other.owner, about.text));
    if (const auto may = may_reapply(entry, *step); !may) {
        return leave_as_it_is(entry, *step, may.error());
    }
    auto state = apply_wanted(entry, *step);
    if (!state && run_.journal_failed()) return std::unexpected(state.error());
    run_.report(state.value_or(StepState::failed), about.unit,
                state ? Error{Code::internal, ""} : state.error());
    if (!state) {
        note_failure(entry, *step, state.error());
        return {};
    }
    undone_.push_back({.sequence = entry.sequence, .reapplied = true});
    return commit();
}

/// Root may have changed the lists since the other owner's plan. A step that holds is not applied.
Result<> LedgerUndo::may_reapply(const LedgerEntry& entry, const model::Step& step) {
    Context context = run_.context_for(step);
    context.created = was_created(entry);
    if (auto previous = applied_step(entry)) context.previous = *std::move(previous);
    const auto already = holds(context, step);
    if (!already || *already) return {};
    return run_.permitted_again(next_owner_of(entry)->owner, step);
}

/// The owner who leaves gives its objects back, whatever root permits the others.
Result<> LedgerUndo::leave_as_it_is(const LedgerEntry& entry, const model::Step& step,
                                    const Error& why) {
    const std::string note =
        fmt::format("stays unchanged: the step of owner {} is not permitted any more: {}",
                    next_owner_of(entry)->owner, why.what);
    kept_.push_back({model::object_of(step), note, false});
    run_.report(StepState::done, "", {Code::internal, note});
    undone_.push_back({.sequence = entry.sequence});
    return commit();
}

Result<StepState> LedgerUndo::apply_wanted(const LedgerEntry& entry, const model::Step& step) {
    Context context = run_.context_for(step);
    context.created = was_created(entry);
    context.previous = TRY(applied_step(entry));
    const bool already = TRY(holds(context, step));
    const auto written = TRY(written_with(entry, step));
    TRY(run_.journaled(run_.journal().reapplying(entry.sequence, model::to_json(step), written)));
    if (already) return StepState::skipped;
    crash_point(model::type_of(step), entry.sequence);
    TRY(apply(context, step));
    context.previous = step;
    const PreviewedStep left = TRY(preview(context, step));
    if (left.holds) return StepState::done;
    return fail(Code::internal,
                fmt::format("applied, but found -> expected: {}", fmt::join(left.diff, "; ")));
}

}  // namespace kubexm::executor
