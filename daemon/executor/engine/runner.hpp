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

/// What happened to a step, as it happens.
struct Report {
    std::string plan_id;
    std::uint32_t index = 0;
    StepState state = StepState::pending;
    std::string text;            // the step in words
    std::string error;           // failed: why; taken back: what had to stay
    Code code = Code::internal;  // failed: what kind of problem
    std::string unit;            // that the step is about, if any
    std::string progress;        // how far it is; nothing else has changed
};

/// Carries out plans of the journal, one step after the other: check, remember what was there,
/// apply, check again, record. Everything it knows is in the journal, so that another run, after a
/// crash at any point, goes on where this one stopped. Worker thread.
class Runner {
public:
    /// What a plan works on. All of it outlives the runner.
    struct Parts {
        Journal& journal;
        Vault& vault;
        const Root& root;
        Systemd& systemd;
        const model::AllowList& allow;
    };
    /// Told of everything that happens; `between_steps` lets others use the worker's thread.
    struct Listener {
        std::function<void(const Report&)> report;
        std::function<void()> between_steps;
    };

    Runner(Parts parts, Listener listener);

    /// Goes on with a running plan to its end, forward or back as the record says. Returns the
    /// state it came to: `running` where it was left for a later process. `stop` is heard between
    /// steps. An error means the journal itself failed; the plan goes on from there another time.
    Result<PlanState> run(const PlanRecord& record, const Stop& stop);

private:
    Result<PlanState> run_forward(const PlanRecord& record, const Stop& stop);
    Result<bool> still_finished(const model::Plan& plan, const StepRecord& step);
    Result<PlanState> run_back(const PlanRecord& record, const Stop& stop);
    Result<> run_step(const PlanRecord& record, const model::Plan& plan, std::uint32_t index);
    Result<StepState> carry_out(const PlanRecord& record, const model::Step& step,
                                std::uint32_t index);
    Result<std::string> what_was_before(Context& context, const model::Step& step);
    Result<> remember(Context& context, const PlanRecord& record, const model::Step& step,
                      std::uint32_t index);
    Result<> take_back_entry(const PlanRecord& record, const LedgerEntry& entry,
                             std::uint32_t index);
    Result<std::optional<LedgerEntry>> entry_of(const model::Step& step);
    /// What the journal said, remembering where it failed.
    template <typename T>
    Result<T> journaled(Result<T> outcome) {
        journal_failed_ = journal_failed_ || !outcome;
        return outcome;
    }
    Context new_context();
    Result<Context> context_for(const model::Step& step, bool resumed);
    Result<PlanState> stopped(const PlanRecord& record, const Stop& stop);
    Result<PlanState> stopped_by(const PlanRecord& record, const Error& error);
    Result<PlanState> failed(const PlanRecord& record, const Error& error);
    Result<PlanState> end(const PlanRecord& record, PlanState state, std::string_view why);
    void begin_progress(const PlanRecord& record, std::uint32_t index, std::string text);
    void tell_progress(const std::string& how_far);

    Parts parts_;
    Listener listener_;
    bool journal_failed_ = false;
    Report now_;  // the step that is at work
    std::chrono::steady_clock::time_point told_;
};

/// Content that neither a step in force nor an undo needs is removed from the vault. While no plan
/// runs: a running one needs more.
Result<> forget_unused_content(Journal& journal, Vault& vault);

}  // namespace kubexm::executor
