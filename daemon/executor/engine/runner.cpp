#include "daemon/executor/engine/runner.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/engine/contents.hpp"
#include "daemon/executor/engine/retry_limit.hpp"
#include "daemon/executor/steps/steps.hpp"

namespace kubexm::executor {

namespace {

using namespace std::chrono_literals;

constexpr auto kProgressEvery = 1s;

bool is_undone_last(const LedgerEntry& entry) {
    const auto step = model::step_from_json(entry.step);
    return step && model::traits_of(*step).undo == model::Undo::last;
}

/// The ledger lists the newest entry first.
std::vector<LedgerEntry> in_undo_order(std::vector<LedgerEntry> entries) {
    std::ranges::stable_partition(entries, std::not_fn(is_undone_last));
    return entries;
}

bool is_same_object(const model::Step& a, const model::Step& b) {
    return model::type_of(a) == model::type_of(b) && model::target_of(a) == model::target_of(b);
}

/// Whether a reboot reverts the step, and no later step of the plan concerns the same object.
bool may_be_reverted(const model::Plan& plan, std::uint32_t index) {
    const model::Step& step = plan.steps.at(index);
    return model::traits_of(step).state == model::State::runtime &&
           std::none_of(plan.steps.begin() + index + 1, plan.steps.end(),
                        [&](const model::Step& later) { return is_same_object(later, step); });
}

/// The pre-image for the ledger. conflict: undo could not read it, so the step must not run.
Result<std::string> encoded(const PreImage& image) {
    std::string text = to_json(image);
    auto again = image_from_json(text);
    if (again && *again == image) return text;
    return fail(Code::conflict, fmt::format("the present state cannot be recorded for undo ({}); "
                                            "nothing was changed",
                                            again ? "the record differs" : again.error().what));
}

bool is_stopping(const Stop& stop) {
    return stop.cancel.stop_requested() || stop.leave.stop_requested();
}

}  // namespace

Runner::Runner(Parts parts, Listener listener) : parts_(parts), listener_(std::move(listener)) {}

Result<PlanState> Runner::run(const PlanRecord& record, const Stop& stop) {
    parts_.systemd.on_wait([this](std::chrono::seconds waited) {
        report_progress(fmt::format("waiting for systemd for {} s", waited.count()));
    });
    auto state = record.undoing ? run_undo(record, stop) : run_forward(record, stop);
    parts_.systemd.on_wait({});
    if (!state || *state == PlanState::running) return state;  // still needs its contents
    TRY(drop_unused_contents(parts_.journal, parts_.vault));
    return state;
}

Result<PlanState> Runner::run_forward(const PlanRecord& record, const Stop& stop) {
    auto plan = model::plan_from_json(record.document);
    // Written by another version. If it stayed running, it would block every other plan forever.
    if (!plan) return failed(record, {Code::corrupt, "plan in the journal: " + plan.error().what});
    for (const StepRecord& step : record.steps) {
        listener_.between_steps();
        if (is_stopping(stop)) return stopped(record, stop);
        const bool finished = TRY(is_finished(*plan, step));
        if (finished) continue;
        if (auto done = run_step(record, plan->steps.at(step.index), step.index); !done) {
            return stopped_by(record, done.error());
        }
    }
    return end(record, PlanState::done, "");
}

/// A failed step ends the plan. A failed journal does not: the plan is resumed when the journal can
/// be written again.
Result<PlanState> Runner::stopped_by(const PlanRecord& record, const Error& error) {
    if (journal_failed_) return std::unexpected(error);
    return failed(record, error);
}

/// A step that an earlier process finished is not repeated, unless a reboot reverted it. If that
/// cannot be checked, the step runs again and reports why.
Result<bool> Runner::is_finished(const model::Plan& plan, const StepRecord& step) {
    if (step.state != StepState::done && step.state != StepState::skipped) return false;
    if (!may_be_reverted(plan, step.index)) return true;
    auto context = context_for(plan.steps.at(step.index), false);
    if (!context && journal_failed_) return std::unexpected(context.error());
    return context && holds(*context, plan.steps.at(step.index)).value_or(false);
}

Result<> Runner::run_step(const PlanRecord& record, const model::Step& step, std::uint32_t index) {
    const model::Description about = model::describe(step);
    crash_point(model::type_of(step), index);  // in a trace: the points that follow are its own
    begin_progress(record, index, about.text);
    auto state = carry_out(record, step, index);
    if (!state && journal_failed_) return std::unexpected(state.error());
    const std::string error = state ? "" : state.error().what;
    const StepState reached = state.value_or(StepState::failed);
    TRY(journaled(parts_.journal.finished(record.id, index, reached, error)));
    listener_.report({.plan_id = record.id,
                      .index = index,
                      .state = reached,
                      .text = about.text,
                      .error = error,
                      .code = state ? Code::internal : state.error().code,
                      .unit = about.unit});
    if (!state) return during(about.text, state.error());
    return {};
}

Result<StepState> Runner::carry_out(const PlanRecord& record, const model::Step& step,
                                    std::uint32_t index) {
    const bool resumed = record.steps.at(index).state == StepState::prepared;
    Context context = TRY(context_for(step, resumed));
    const bool already = TRY(holds(context, step));
    if (already) return resumed ? StepState::done : StepState::skipped;
    if (!resumed) TRY(prepare(context, record, step, index));
    TRY(apply(context, step));
    context.previous = step;
    const StepPreview left = TRY(preview(context, step));
    if (left.holds) return StepState::done;
    return fail(Code::internal, fmt::format("applied, but the host still differs: {}",
                                            left.diff.empty() ? "" : left.diff.front()));
}

/// The first pre-image stays: an object in the ledger is ours already, even if half applied.
Result<std::string> Runner::pre_image_of(Context& context, const model::Step& step) {
    const std::optional<LedgerEntry> entry = TRY(entry_of(step));
    if (entry) return entry->pre_image;
    const PreImage image = TRY(capture(context, step));
    return encoded(image);
}

Result<> Runner::prepare(Context& context, const PlanRecord& record, const model::Step& step,
                         std::uint32_t index) {
    const model::Description about = model::describe(step);
    std::string pre_image = TRY(pre_image_of(context, step));
    listener_.report({.plan_id = record.id,
                      .index = index,
                      .state = StepState::prepared,
                      .text = about.text,
                      .unit = about.unit});
    return journaled(parts_.journal.prepared(record.id, index,
                                             {.owner = record.owner,
                                              .type = std::string(model::type_of(step)),
                                              .target = about.target,
                                              .step = model::to_json(step),
                                              .pre_image = std::move(pre_image),
                                              .plan_id = record.id}));
}

Context Runner::new_context(const model::Step& step) {
    return {parts_.root,
            parts_.systemd,
            parts_.vault,
            std::chrono::steady_clock::now() + model::traits_of(step).deadline,
            {},
            parts_.allow.links,
            [this](const std::string& progress) { report_progress(progress); }};
}

Result<std::optional<LedgerEntry>> Runner::entry_of(const model::Step& step) {
    return journaled(parts_.journal.ledger_entry(model::type_of(step), model::target_of(step)));
}

/// Whether an interrupted step was applied is unknown: it counts as not applied.
Result<Context> Runner::context_for(const model::Step& step, bool resumed) {
    Context context = new_context(step);
    if (resumed) return context;
    const std::optional<LedgerEntry> entry = TRY(entry_of(step));
    if (!entry || entry->applied.empty()) return context;
    auto previous = model::step_from_json(entry->applied);
    if (!previous) return fail(Code::corrupt, "step in the ledger: " + previous.error().what);
    context.previous = *std::move(previous);
    return context;
}

Result<PlanState> Runner::run_undo(const PlanRecord& record, const Stop& stop) {
    auto entries = TRY(parts_.journal.ledger(record.owner));
    std::uint32_t index = 0;
    for (const LedgerEntry& entry : in_undo_order(std::move(entries))) {
        listener_.between_steps();
        if (is_stopping(stop)) return stopped(record, stop);
        if (auto done = undo_entry(record, entry, index++); !done) {
            return stopped_by(record, done.error());
        }
    }
    return end(record, PlanState::undone, "");
}

Result<> Runner::undo_entry(const PlanRecord& record, const LedgerEntry& entry,
                            std::uint32_t index) {
    auto step = model::step_from_json(entry.step);
    if (!step) return fail(Code::corrupt, "step in the ledger: " + step.error().what);
    const PreImage image = TRY(image_from_json(entry.pre_image));
    const model::Description about = model::describe(*step);
    const std::string text = "undo: " + about.text;
    Context context = new_context(*step);
    context.previous = *step;
    begin_progress(record, index, text);
    crash_point(model::type_of(*step), entry.sequence);
    auto stays = undo(context, *step, image);
    listener_.report({.plan_id = record.id,
                      .index = index,
                      .state = stays ? StepState::done : StepState::failed,
                      .text = text,
                      .error = stays ? *stays : stays.error().what,
                      .code = stays ? Code::internal : stays.error().code,
                      .unit = about.unit});
    if (!stays) return during(text, stays.error());
    return journaled(parts_.journal.undone(entry.sequence));
}

Result<PlanState> Runner::stopped(const PlanRecord& record, const Stop& stop) {
    if (!stop.cancel.stop_requested()) return PlanState::running;
    return end(record, PlanState::cancelled, "stopped on request");
}

Result<PlanState> Runner::failed(const PlanRecord& record, const Error& error) {
    // The host may have refused what the policy could not see, such as a link in a path.
    TRY(parts_.journal.audit(0, ::getpid(), "plan failed",
                             fmt::format("{}: {}", record.id, error.what)));
    TRY(parts_.journal.end(record.id, PlanState::failed, error.what, counts_as_failure(error)));
    return PlanState::failed;
}

Result<PlanState> Runner::end(const PlanRecord& record, PlanState state, std::string_view why) {
    TRY(parts_.journal.end(record.id, state, why));
    return state;
}

void Runner::begin_progress(const PlanRecord& record, std::uint32_t index, std::string text) {
    current_ = {.plan_id = record.id,
                .index = index,
                .state = StepState::prepared,
                .text = std::move(text)};
    last_report_ = std::chrono::steady_clock::now();
}

void Runner::report_progress(const std::string& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_report_ < kProgressEvery) return;
    last_report_ = now;
    current_.progress = progress;
    listener_.report(current_);
}

}  // namespace kubexm::executor
