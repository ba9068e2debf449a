#include "daemon/executor/engine/runner.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/overloaded.hpp"
#include "daemon/executor/engine/retry_limit.hpp"
#include "daemon/executor/steps/steps.hpp"

namespace kubexm::executor {

namespace {

using namespace std::chrono_literals;

constexpr auto kStepDeadline = 5min;  // the slowest honest step: a large tree, a stubborn unit
constexpr auto kProgressEvery = 1s;

/// The newest first, but systemd reads its units again only after all unit files are back.
std::vector<LedgerEntry> in_undo_order(std::vector<LedgerEntry> entries) {
    std::stable_partition(entries.begin(), entries.end(), [](const LedgerEntry& entry) {
        return entry.type != model::DaemonReload::kType;
    });
    return entries;
}

std::string unit_of(const model::Step& step) {
    if (const auto* state = std::get_if<model::UnitState>(&step)) return state->name;
    if (const auto* command = std::get_if<model::TransientUnit>(&step)) return command->name;
    return "";
}

/// Whether only the running system knows what the step did, and no later step of the plan is about
/// the same object.
bool is_runtime_state(const model::Plan& plan, std::uint32_t index) {
    const model::Step& step = plan.steps.at(index);
    const bool runtime = std::visit(overloaded{
                                        [](const model::Sysctl&) { return true; },
                                        [](const model::KernelModule&) { return true; },
                                        [](const model::SwapOff&) { return true; },
                                        [](const model::Unmounted&) { return true; },
                                        [](const model::UnitState&) { return true; },
                                        [](const auto&) { return false; },
                                    },
                                    step);
    return runtime && std::none_of(plan.steps.begin() + index + 1, plan.steps.end(),
                                   [&](const model::Step& later) {
                                       return model::type_of(later) == model::type_of(step) &&
                                              model::target_of(later) == model::target_of(step);
                                   });
}

/// A pre-image for the ledger. conflict: undo could not read it, so nothing may be changed.
Result<std::string> as_undo_will_read(const PreImage& image) {
    std::string text = to_json(image);
    auto again = image_from_json(text);
    if (again && *again == image) return text;
    return fail(Code::conflict,
                fmt::format("what is there cannot be remembered, so it stays as it is: {}",
                            again ? "it would be read differently" : again.error().what));
}

bool wants_stop(const Stop& stop) {
    return stop.cancel.stop_requested() || stop.leave.stop_requested();
}

}  // namespace

Runner::Runner(Parts parts, Listener listener) : parts_(parts), listener_(std::move(listener)) {}

Result<PlanState> Runner::run(const PlanRecord& record, const Stop& stop) {
    parts_.systemd.on_wait([this](std::chrono::seconds waited) {
        tell_progress(fmt::format("systemd is at it for {} s", waited.count()));
    });
    auto state = record.undoing ? run_back(record, stop) : run_forward(record, stop);
    parts_.systemd.on_wait({});
    if (!state || *state == PlanState::running) return state;  // its content is still needed
    auto cleaned = forget_unused_content(parts_.journal, parts_.vault);
    if (!cleaned) return std::unexpected(cleaned.error());
    return state;
}

Result<PlanState> Runner::run_forward(const PlanRecord& record, const Stop& stop) {
    auto plan = model::plan_from_json(record.document);
    // Another version took it in. Left running, it would keep every other plan out for ever.
    if (!plan) return failed(record, {Code::corrupt, "in the journal: " + plan.error().what});
    for (const StepRecord& step : record.steps) {
        listener_.between_steps();
        if (wants_stop(stop)) return stopped(record, stop);
        auto finished = still_finished(*plan, step);
        if (!finished) return std::unexpected(finished.error());
        if (*finished) continue;
        if (auto done = run_step(record, *plan, step.index); !done) {
            return stopped_by(record, done.error());
        }
    }
    return end(record, PlanState::done, "");
}

/// What a step could not do ends the plan. What could not be written down about it does not: that
/// is no word about the plan, which goes on when the journal can be used again.
Result<PlanState> Runner::stopped_by(const PlanRecord& record, const Error& error) {
    if (journal_failed_) return std::unexpected(error);
    return failed(record, error);
}

/// A step that an earlier process finished is not done again, unless a reboot undid it. Where that
/// cannot be told, doing it will tell why.
Result<bool> Runner::still_finished(const model::Plan& plan, const StepRecord& step) {
    if (step.state != StepState::done && step.state != StepState::skipped) return false;
    if (!is_runtime_state(plan, step.index)) return true;
    auto context = context_for(plan.steps.at(step.index), false);
    if (!context && journal_failed_) return std::unexpected(context.error());
    return context && holds(*context, plan.steps.at(step.index)).value_or(false);
}

Result<> Runner::run_step(const PlanRecord& record, const model::Plan& plan, std::uint32_t index) {
    const model::Step& step = plan.steps.at(index);
    crash_point(model::type_of(step), index);  // tells in a trace whose points follow
    begin_progress(record, index, model::text_of(step));
    auto state = carry_out(record, step, index);
    if (!state && journal_failed_) return std::unexpected(state.error());
    const std::string error = state ? "" : state.error().what;
    const StepState reached = state.value_or(StepState::failed);
    auto recorded = journaled(parts_.journal.finished(record.id, index, reached, error));
    if (!recorded) return recorded;
    const Code code = state ? Code::internal : state.error().code;
    listener_.report({.plan_id = record.id,
                      .index = index,
                      .state = reached,
                      .text = model::text_of(step),
                      .error = error,
                      .code = code,
                      .unit = unit_of(step)});
    if (!state) return during(model::text_of(step), state.error());
    return {};
}

Result<StepState> Runner::carry_out(const PlanRecord& record, const model::Step& step,
                                    std::uint32_t index) {
    const bool resumed = record.steps.at(index).state == StepState::prepared;
    auto context = context_for(step, resumed);
    if (!context) return std::unexpected(context.error());
    auto already = holds(*context, step);
    if (!already) return std::unexpected(already.error());
    if (*already) return resumed ? StepState::done : StepState::skipped;
    if (!resumed) {
        auto remembered = remember(*context, record, step, index);
        if (!remembered) return std::unexpected(remembered.error());
    }
    if (auto applied = apply(*context, step); !applied) return std::unexpected(applied.error());
    context->previous = step;
    auto now = holds(*context, step);
    if (!now) return std::unexpected(now.error());
    if (!*now) return fail(Code::internal, "it was done, but the host is not as wanted");
    return StepState::done;
}

/// The first pre-image stays: an object that is ours already, if only half, is not looked at again.
Result<std::string> Runner::what_was_before(Context& context, const model::Step& step) {
    auto entry = entry_of(step);
    if (!entry) return std::unexpected(entry.error());
    if (const std::optional<LedgerEntry>& known = *entry) return known->pre_image;
    auto image = capture(context, step);
    if (!image) return std::unexpected(image.error());
    return as_undo_will_read(*image);
}

Result<> Runner::remember(Context& context, const PlanRecord& record, const model::Step& step,
                          std::uint32_t index) {
    auto before = what_was_before(context, step);
    if (!before) return std::unexpected(before.error());
    listener_.report({.plan_id = record.id,
                      .index = index,
                      .state = StepState::prepared,
                      .text = model::text_of(step),
                      .unit = unit_of(step)});
    return journaled(parts_.journal.prepared(record.id, index,
                                             {.owner = record.owner,
                                              .type = std::string(model::type_of(step)),
                                              .target = model::target_of(step),
                                              .step = model::to_json(step),
                                              .pre_image = *std::move(before),
                                              .plan_id = record.id}));
}

Context Runner::new_context() {
    return {parts_.root,
            parts_.systemd,
            parts_.vault,
            std::chrono::steady_clock::now() + kStepDeadline,
            {},
            parts_.allow.links,
            [this](const std::string& how_far) { tell_progress(how_far); }};
}

Result<std::optional<LedgerEntry>> Runner::entry_of(const model::Step& step) {
    return journaled(parts_.journal.ledger_entry(model::type_of(step), model::target_of(step)));
}

/// A step that was interrupted may or may not have been applied: it counts as not applied.
Result<Context> Runner::context_for(const model::Step& step, bool resumed) {
    Context context = new_context();
    if (resumed) return context;
    auto entry = entry_of(step);
    if (!entry) return std::unexpected(entry.error());
    const std::optional<LedgerEntry>& known = *entry;
    if (!known || known->applied.empty()) return context;
    auto previous = model::step_from_json(known->applied);
    if (!previous) return fail(Code::corrupt, "step in the ledger: " + previous.error().what);
    context.previous = *std::move(previous);
    return context;
}

Result<PlanState> Runner::run_back(const PlanRecord& record, const Stop& stop) {
    auto entries = parts_.journal.ledger(record.owner);
    if (!entries) return std::unexpected(entries.error());
    std::uint32_t index = 0;
    for (const LedgerEntry& entry : in_undo_order(*std::move(entries))) {
        listener_.between_steps();
        if (wants_stop(stop)) return stopped(record, stop);
        if (auto done = take_back_entry(record, entry, index++); !done) {
            return stopped_by(record, done.error());
        }
    }
    return end(record, PlanState::undone, "");
}

Result<> Runner::take_back_entry(const PlanRecord& record, const LedgerEntry& entry,
                                 std::uint32_t index) {
    auto step = model::step_from_json(entry.step);
    if (!step) return fail(Code::corrupt, "step in the ledger: " + step.error().what);
    auto image = image_from_json(entry.pre_image);
    if (!image) return std::unexpected(image.error());
    const std::string text = "take back: " + model::text_of(*step);
    Context context = new_context();
    context.previous = *step;
    begin_progress(record, index, text);
    crash_point(model::type_of(*step), entry.sequence);
    auto stays = undo(context, *step, *image);
    listener_.report({.plan_id = record.id,
                      .index = index,
                      .state = stays ? StepState::done : StepState::failed,
                      .text = text,
                      .error = stays ? *stays : stays.error().what,
                      .code = stays ? Code::internal : stays.error().code,
                      .unit = unit_of(*step)});
    if (!stays) return during(text, stays.error());
    return journaled(parts_.journal.undone(entry.sequence));
}

Result<PlanState> Runner::stopped(const PlanRecord& record, const Stop& stop) {
    if (!stop.cancel.stop_requested()) return PlanState::running;
    return end(record, PlanState::cancelled, "stopped on request");
}

Result<PlanState> Runner::failed(const PlanRecord& record, const Error& error) {
    // Also what was refused only when it was seen on the host, such as a link in a path.
    auto audited = parts_.journal.audit(0, ::getpid(), "plan failed",
                                        fmt::format("{}: {}", record.id, error.what));
    if (!audited) return std::unexpected(audited.error());
    auto recorded = parts_.journal.end(record.id, PlanState::failed, error.what,
                                       counts_as_failure(error));
    if (!recorded) return std::unexpected(recorded.error());
    return PlanState::failed;
}

Result<PlanState> Runner::end(const PlanRecord& record, PlanState state, std::string_view why) {
    auto recorded = parts_.journal.end(record.id, state, why);
    if (!recorded) return std::unexpected(recorded.error());
    return state;
}

void Runner::begin_progress(const PlanRecord& record, std::uint32_t index, std::string text) {
    now_ = {.plan_id = record.id,
            .index = index,
            .state = StepState::prepared,
            .text = std::move(text)};
    told_ = std::chrono::steady_clock::now();
}

void Runner::tell_progress(const std::string& how_far) {
    const auto now = std::chrono::steady_clock::now();
    if (now - told_ < kProgressEvery) return;
    told_ = now;
    now_.progress = how_far;
    listener_.report(now_);
}

Result<> forget_unused_content(Journal& journal, Vault& vault) {
    auto entries = journal.ledger("");
    if (!entries) return std::unexpected(entries.error());
    std::vector<std::string> wanted;
    const auto want = [&](std::vector<std::string> more) {
        wanted.insert(wanted.end(), more.begin(), more.end());
    };
    for (const LedgerEntry& entry : *entries) {
        auto image = image_from_json(entry.pre_image);
        auto step = model::step_from_json(entry.step);
        if (!image || !step) return {};  // nobody knows what an unreadable entry needs
        want(executor::contents_of(*image));
        // A component that is in place is not kept twice.
        if (!std::holds_alternative<model::ComponentVersion>(*step)) {
            want(model::contents_of(*step));
        }
    }
    return vault.retain(wanted);
}

}  // namespace kubexm::executor
