#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/engine/runner.hpp"
#include "daemon/model/remaining.hpp"

namespace kubexm::executor {

/// A plan while it is carried out, forward or backward: its record, its listener, its end. Private
/// to this module. Worker thread.
class Run {
public:
    Run(const Runner::Parts& parts, const Runner::Listener& listener, const PlanRecord& record,
        const Stop& stop);

    const PlanRecord& record() const { return record_; }
    Journal& journal() const { return parts_.journal; }
    const Root& root() const { return parts_.root; }
    const model::AllowList& allowed() const { return parts_.allow; }
    Result<> permitted_again(const model::Plan& plan) const { return parts_.plan_permitted(plan); }
    Result<> permitted_now(const model::Plan& plan, const model::Step& step) const {
        return parts_.permitted_now(plan, step);
    }
    Result<> permitted_again(const std::string& owner, const model::Step& step) const {
        return parts_.step_permitted(owner, step);
    }
    /// For one verb of a step: its deadline begins now.
    Context context_for(const model::Step& step);

    /// Passes on a result of the journal, and remembers a failure.
    template <typename T>
    Result<T> journaled(Result<T> outcome) {
        journal_failed_ = journal_failed_ || !outcome;
        return outcome;
    }
    bool journal_failed() const { return journal_failed_; }

    /// Between two steps: lets others use the thread. True: stop before the next one.
    bool should_stop() const;
    bool stop_requested() const {
        return stop_.cancel.stop_requested() || stop_.leave.stop_requested();
    }
    /// Waits before another try; others use the thread meanwhile.
    void wait(std::chrono::seconds time) const { listener_.wait(time, stop_); }

    /// Progress is that of this step from now on.
    void begin(std::uint32_t index, const std::string& text);
    void report_progress(const std::string& progress);
    /// The step that began last has reached a state.
    void report(StepState state, const std::string& unit,
                const Error& about = {Code::internal, ""});

    // --- the end of the plan

    /// After should_stop().
    Result<PlanState> stopped(const std::vector<model::Remaining>& stays = {});
    /// A failed step ends the plan. A failed journal does not: the plan is resumed when the journal
    /// can be written again.
    Result<PlanState> failed(const Error& error, const std::vector<model::Remaining>& stays);
    /// `counts`: for the retry limit.
    Result<PlanState> failed(const Error& error, const std::vector<model::Remaining>& stays,
                             bool counts);
    Result<PlanState> end(PlanState state, std::string_view why,
                          const std::vector<model::Remaining>& stays);

private:
    Result<> may_preserve(std::int64_t bytes) const;

    const Runner::Parts& parts_;
    const Runner::Listener& listener_;
    const PlanRecord& record_;
    const Stop& stop_;
    bool journal_failed_ = false;
    Report current_;
    std::chrono::steady_clock::time_point last_report_;
};

}  // namespace kubexm::executor
