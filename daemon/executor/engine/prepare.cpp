#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/try.hpp"
#include "daemon/executor/engine/footprint.hpp"
#include "daemon/executor/engine/forward.hpp"
#include "daemon/executor/engine/ledger_steps.hpp"
#include "daemon/executor/engine/lost_node.hpp"
#include "daemon/executor/steps/steps.hpp"

// Before the steps of a group change the host: checks and pre-images.

namespace kubexm::executor {

namespace {

/// The pre-image for the ledger. conflict: undo could not read it, so the step must not run.
Result<std::string> encoded(const PreImage& image) {
    std::string text = to_json(image);
    auto again = image_from_json(text);
    if (again && *again == image) return text;
    return fail(Code::conflict, fmt::format("the present state cannot be recorded for undo ({}); "
                                            "nothing was changed",
                                            again ? "the record differs" : again.error().what));
}

Result<std::string> captured_now(Context& context, const model::Step& step) {
    const PreImage image = TRY(capture(context, step));
    return encoded(image);
}

}  // namespace

/// Checks a step and, where its object is not in the ledger, captures its pre-image.
Result<Forward::Work> Forward::looked_at(std::uint32_t index) {
    const model::Step& step = plan_.steps.at(index);
    Work work{.index = index};
    work.resumed = run_.record().steps.at(index).state == StepState::prepared;
    work.before = TRY(
        run_.journaled(run_.journal().ledger_entry(model::type_of(step), model::target_of(step))));
    Context context = TRY(context_for(work));
    work.holds = TRY(holds(context, step));
    if (work.resumed || work.before) return work;
    context.has_lost_node = TRY(run_.journaled(has_lost_node(run_.journal(), run_.root())));
    auto image = captured_now(context, step);
    if (image) {
        work.captured = *std::move(image);
    } else if (!work.holds) {
        return std::unexpected(image.error());
    }
    return work;
}

/// An earlier step of the same object must be applied in the ledger first.
Result<> Forward::record_end_of_object(std::uint32_t index) {
    const bool waits = std::ranges::any_of(changes_.ended, [&](const EndedStep& ended) {
        return is_one_object(plan_.steps.at(ended.index), plan_.steps.at(index));
    });
    return waits ? record_changes() : Result<>();
}

/// In a repair each step is a group: a step that fails does so alone.
std::size_t Forward::size_of_group(std::span<const std::uint32_t> indices) const {
    if (is_repair()) return 1;
    std::vector<const model::Step*> steps;
    for (const std::uint32_t index : indices) steps.push_back(&plan_.steps.at(index));
    return first_group(steps);
}

/// A step that cannot be looked at yet may need one before it: the group ends there.
Result<Forward::Group> Forward::next_group(std::span<const std::uint32_t> indices) {
    Group group;
    for (const std::uint32_t index : indices.first(size_of_group(indices))) {
        TRY(record_end_of_object(index));
        auto work = looked_at(index);
        if (!work && (group.empty() || run_.journal_failed())) {
            return std::unexpected(work.error());
        }
        if (!work) break;
        group.push_back(*std::move(work));
    }
    return group;
}

Result<PreparedStep> Forward::prepared(const Work& work) {
    const model::Step& step = step_of(work);
    auto written = TRY(written_with(work.before, step));
    const model::Step kept = TRY(recorded(run_.context_for(step).vault, step));
    return PreparedStep{.index = work.index,
                        .type = std::string(model::type_of(step)),
                        .target = model::target_of(step),
                        .step = model::to_json(kept),
                        .written = std::move(written),
                        .pre_image = work.captured.value_or(""),
                        .holds = work.holds};
}

Result<> Forward::prepare(const Group& group) {
    for (const Work& work : group) {
        if (work.resumed) continue;
        // A step that holds and whose state cannot be recorded changes nothing: it has no entry.
        if (!work.before && !work.captured) {
            changes_.ended.push_back({work.index, StepState::skipped});
            continue;
        }
        auto change = TRY(prepared(work));
        changes_.prepared.push_back(std::move(change));
    }
    return record_changes();
}

/// Time has passed since the group was prepared: the pre-image is the state that the step really
/// replaces.
Result<> Forward::capture_again(Work& work) {
    Context context = TRY(context_for(work));
    context.has_lost_node = TRY(run_.journaled(has_lost_node(run_.journal(), run_.root())));
    auto now = TRY(captured_now(context, step_of(work)));
    if (now == work.captured) return {};
    work.captured = std::move(now);
    auto change = TRY(prepared(work));
    StepChanges again{.forgotten = {{work.index}}, .prepared = {std::move(change)}};
    return run_.journaled(run_.journal().record(run_.record().id, again));
}

/// Prepared steps that are not begun leave no entry, also those that hold: the plan owns the
/// objects of the steps that it has reached.
void Forward::forget_rest(const Group& group) {
    for (const Work& work : group) {
        if (work.begun || work.resumed) continue;
        changes_.forgotten.push_back({work.index, work.before});
    }
}

}  // namespace kubexm::executor
