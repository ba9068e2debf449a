#pragma once

#include <optional>
#include <span>
#include <vector>

#include "daemon/executor/engine/run.hpp"
#include "daemon/model/plan.hpp"

namespace kubexm::executor {

/// Carries out the steps of a plan in groups: one commit prepares a group and records the end of
/// the group before it. A failed step ends the plan, unless it is a repair. Private to this module.
/// Worker thread.
class Forward {
public:
    Forward(Run& run, const model::Plan& plan) : run_(run), plan_(plan) {}

    Result<PlanState> run();

private:
    /// A step of the present group.
    struct Work {
        std::uint32_t index = 0;
        bool resumed = false;                 // an earlier process may have applied it
        bool holds = false;                   // nothing to apply
        std::optional<LedgerEntry> before;    // the entry of its object
        std::optional<std::string> captured;  // a pre-image that was not in the ledger
        bool begun = false;
    };
    using Group = std::vector<Work>;
    struct Failure {
        std::uint32_t index = 0;
        Error error;
    };

    const model::Step& step_of(const Work& work) const { return plan_.steps.at(work.index); }
    Result<bool> is_finished(const StepRecord& step);
    Result<std::vector<std::uint32_t>> unfinished();
    Result<> record_end_of_object(std::uint32_t index);
    Result<Work> looked_at(std::uint32_t index);
    std::size_t size_of_group(std::span<const std::uint32_t> indices) const;
    Result<Group> next_group(std::span<const std::uint32_t> indices);
    Result<Context> context_for(const Work& work);
    Result<> prepare(const Group& group);
    Result<PreparedStep> prepared(const Work& work);
    Result<> record_changes();
    Result<PlanState> run_group(Group& group);
    Result<> may_restart(const model::Step& step);
    Result<> carry_out(Work& work);
    Result<> change(Work& work);
    Result<> capture_again(Work& work);
    void forget_rest(const Group& group);
    Result<PlanState> stop();
    bool is_repair() const { return plan_.purpose == PlanPurpose::repair; }
    Result<PlanState> fail_step(std::uint32_t index, const Error& error);
    Result<PlanState> end_failed();
    Result<PlanState> finish();

    Run& run_;
    const model::Plan& plan_;
    StepChanges changes_;  // for the next commit
    std::vector<Failure> failures_;
    bool has_changed_ = false;  // a step has changed the host
};

}  // namespace kubexm::executor
