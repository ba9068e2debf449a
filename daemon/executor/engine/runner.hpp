#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/executor/engine/stop.hpp"
#include "daemon/executor/host/files.hpp"
#include "daemon/executor/host/systemd.hpp"
#include "daemon/executor/journal/journal.hpp"
#include "daemon/executor/journal/vault.hpp"
#include "daemon/executor/steps/context.hpp"
#include "daemon/model/allow.hpp"
#include "daemon/model/plan.hpp"

namespace kubexm::executor {

/// A change of a step's state, or its progress.
struct Report {
    std::string plan_id;
    std::uint32_t index = 0;
    StepState state = StepState::pending;
    std::string text;            // of the step
    std::string error;           // failed: why; undone: what could not be restored
    Code code = Code::internal;  // failed: the kind of error
    std::string unit;            // that the step starts or stops, if any
    std::string progress;        // if not empty, nothing else has changed
};

/// Runs plans of the journal, step by step: check, journal the pre-image, apply, check again,
/// journal the result. All its state is in the journal: after a crash at any point, another run
/// resumes the plan. Worker thread.
class Runner {
public:
    /// All of it outlives the runner.
    struct Parts {
        Journal& journal;
        Vault& vault;
        const Root& root;
        Systemd& systemd;
        const model::AllowList& allow;
    };
    /// `between_steps` lets others use the worker thread.
    struct Listener {
        std::function<void(const Report&)> report;
        std::function<void()> between_steps;
    };

    Runner(Parts parts, Listener listener);

    /// Runs a plan, or an undo, to its end, and returns the state it reached: `running` where it
    /// was left for a later process. `stop` is checked between steps. An error means that the
    /// journal failed; the plan can be resumed later.
    Result<PlanState> run(const PlanRecord& record, const Stop& stop);

private:
    Result<PlanState> run_forward(const PlanRecord& record, const Stop& stop);
    Result<PlanState> run_undo(const PlanRecord& record, const Stop& stop);
    Result<bool> is_finished(const model::Plan& plan, const StepRecord& step);
    Result<> run_step(const PlanRecord& record, const model::Step& step, std::uint32_t index);
    Result<StepState> carry_out(const PlanRecord& record, const model::Step& step,
                                std::uint32_t index);
    Result<> undo_entry(const PlanRecord& record, const LedgerEntry& entry, std::uint32_t index);
    Result<std::string> pre_image_of(Context& context, const model::Step& step);
    Result<> prepare(Context& context, const PlanRecord& record, const model::Step& step,
                     std::uint32_t index);
    Result<std::optional<LedgerEntry>> entry_of(const model::Step& step);
    /// Passes on a result of the journal, and remembers a failure.
    template <typename T>
    Result<T> journaled(Result<T> outcome) {
        journal_failed_ = journal_failed_ || !outcome;
        return outcome;
    }
    Context new_context(const model::Step& step);
    Result<Context> context_for(const model::Step& step, bool resumed);
    Result<PlanState> stopped(const PlanRecord& record, const Stop& stop);
    Result<PlanState> stopped_by(const PlanRecord& record, const Error& error);
    Result<PlanState> failed(const PlanRecord& record, const Error& error);
    Result<PlanState> end(const PlanRecord& record, PlanState state, std::string_view why);
    void begin_progress(const PlanRecord& record, std::uint32_t index, std::string text);
    void report_progress(const std::string& progress);

    Parts parts_;
    Listener listener_;
    bool journal_failed_ = false;
    Report current_;
    std::chrono::steady_clock::time_point last_report_;
};

}  // namespace kubexm::executor
