#include "daemon/executor/engine/forward.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/engine/footprint.hpp"
#include "daemon/executor/engine/ledger_steps.hpp"
#include "daemon/executor/engine/repair.hpp"
#include "daemon/executor/engine/retry_limit.hpp"
#include "daemon/executor/engine/supersede.hpp"
#include "daemon/executor/steps/steps.hpp"

namespace kubexm::executor {

namespace {

/// Whether a reboot reverts the step, and no later step of the plan concerns the same object.
bool may_be_reverted(const model::Plan& plan, std::uint32_t index) {
    const model::Step& step = plan.steps.at(index);
    return model::traits_of(step).state == model::State::runtime &&
           std::none_of(plan.steps.begin() + index + 1, plan.steps.end(),
                        [&](const model::Step& later) { return is_one_object(later, step); });
}

}  // namespace

Result<PlanState> Forward::run() {
    const auto indices = TRY(unfinished());
    for (std::span<const std::uint32_t> left = indices; !left.empty();) {
        if (run_.should_stop()) return stop();
        auto group = next_group(left);
        const auto ready = group ? prepare(*group) : std::unexpected(group.error());
        const PlanState state =
            TRY(ready ? run_group(*group) : fail_step(left.front(), ready.error()));
        if (state != PlanState::done) return state;
        left = left.subspan(group ? group->size() : 1);
    }
    return finish();
}

/// A step that an earlier process finished is not repeated, unless a reboot reverted it. If that
/// cannot be checked, the step runs again and reports why.
Result<bool> Forward::is_finished(const StepRecord& step) {
    if (step.state != StepState::done && step.state != StepState::skipped) return false;
    if (!may_be_reverted(plan_, step.index)) return true;
    auto work = looked_at(step.index);
    if (!work && run_.journal_failed()) return std::unexpected(work.error());
    return work && work->holds;
}

Result<std::vector<std::uint32_t>> Forward::unfinished() {
    std::vector<std::uint32_t> indices;
    for (const StepRecord& step : run_.record().steps) {
        const bool finished = TRY(is_finished(step));
        if (!finished) indices.push_back(step.index);
    }
    return indices;
}

Result<Context> Forward::context_for(const Work& work) {
    Context context = run_.context_for(step_of(work));
    context.created = work.before && was_created(*work.before);
    // Whether an interrupted step was applied is unknown: it counts as not applied.
    if (work.resumed || !work.before) return context;
    context.previous = TRY(applied_step(*work.before));
    return context;
}

Result<> Forward::record_changes() {
    if (changes_.ended.empty() && changes_.prepared.empty() && changes_.forgotten.empty()) {
        return {};
    }
    TRY(run_.journaled(run_.journal().record(run_.record().id, changes_)));
    changes_ = {};
    return {};
}

/// done: go on with the next group.
Result<PlanState> Forward::run_group(Group& group) {
    for (Work& work : group) {
        if (work.index != group.front().index && run_.should_stop()) {
            forget_rest(group);
            return stop();
        }
        // Root may have changed the lists since the plan was accepted.
        auto done = run_.permitted_now(plan_, step_of(work));
        work.begun = done.has_value();
        if (done) done = may_restart(step_of(work));
        if (done) done = carry_out(work);
        if (!done) {
            forget_rest(group);
            return fail_step(work.index, done.error());
        }
    }
    return PlanState::done;
}

Result<> Forward::carry_out(Work& work) {
    const model::Step& step = step_of(work);
    const model::Description about = model::describe(step);
    crash_point(model::type_of(step), work.index);  // in a trace: the points after it are its own
    run_.begin(work.index, about.text);
    if (work.holds && !work.resumed) {
        run_.report(StepState::skipped, about.unit);
        return {};
    }
    if (!work.holds) {
        run_.report(StepState::prepared, about.unit);
        TRY(change(work));
        has_changed_ = true;
    }
    changes_.ended.push_back({work.index, StepState::done});
    run_.report(StepState::done, about.unit);
    return {};
}

/// The commit with the pre-image may have waited for the disk, and the object may have changed
/// since: it is captured again. Claims and side effects are not: applying them changes nothing.
/// Their pre-image lists the objects before the node; any moment before the units start will do.
Result<> Forward::change(Work& work) {
    const model::Step& step = step_of(work);
    const bool replaces = work.captured && !only_records(step);
    if (replaces) TRY(capture_again(work));
    Context context = TRY(context_for(work));
    TRY(apply(context, step));
    context.previous = step;
    const PreviewedStep left = TRY(preview(context, step));
    if (left.holds) return {};
    return fail(Code::internal,
                fmt::format("applied, but found -> expected: {}", fmt::join(left.diff, "; ")));
}

/// A unit that runs is not restarted for a file that a repair could not put back: it would start
/// with the content of another user.
Result<> Forward::may_restart(const model::Step& step) {
    const auto* unit = std::get_if<model::UnitState>(&step);
    if (unit == nullptr) return {};
    const auto failed = std::ranges::find_if(failures_, [&](const Failure& failure) {
        return reader_of(plan_.steps.at(failure.index)) == unit->name;
    });
    if (failed == failures_.end()) return {};
    Context context = run_.context_for(step);
    context.previous = step;  // as if it had been started just now
    const bool runs = TRY(holds(context, step));
    if (!runs) return {};
    return fail(Code::conflict, "waits for " + model::object_of(plan_.steps.at(failed->index)));
}

Result<PlanState> Forward::stop() {
    TRY(record_changes());
    return run_.stopped();
}

/// A repair goes on with the other steps: kubelet is not to stay down because of a file.
Result<PlanState> Forward::fail_step(std::uint32_t index, const Error& error) {
    if (run_.journal_failed()) return std::unexpected(error);
    const model::Description about = model::describe(plan_.steps.at(index));
    changes_.ended.push_back({index, StepState::failed, error.what});
    TRY(record_changes());
    run_.begin(index, about.text);
    run_.report(StepState::failed, about.unit, error);
    const auto failure = during(about.text, error);
    failures_.push_back({index, failure.error()});
    return is_repair() ? PlanState::done : end_failed();
}

/// A repair that changed something is no failure in a row: the retry limit would stop it, too.
Result<PlanState> Forward::end_failed() {
    Error first = failures_.front().error;
    if (failures_.size() > 1) {
        first.what += fmt::format("; {} other steps failed, too", failures_.size() - 1);
    }
    const bool has_repaired = is_repair() && has_changed_;
    return run_.failed(first, {}, !has_repaired && counts_as_failure(first));
}

Result<PlanState> Forward::finish() {
    TRY(record_changes());
    if (!failures_.empty()) return end_failed();
    const auto stays = TRY(supersede(run_, plan_));
    return run_.end(PlanState::done, "", stays);
}

}  // namespace kubexm::executor
