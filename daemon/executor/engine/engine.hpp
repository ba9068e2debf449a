#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/engine/contents.hpp"
#include "daemon/executor/engine/record_store.hpp"
#include "daemon/executor/engine/refusals.hpp"
#include "daemon/executor/engine/runner.hpp"
#include "daemon/model/allow.hpp"
#include "daemon/model/plan.hpp"

namespace kubexm::executor {

/// What a plan would do to one step's object.
struct StepPreview {
    bool holds = false;
    std::vector<std::string> diff;
};

/// Everything the executor can be asked to do, after who asked was settled. Every refusal is
/// audited. Worker thread.
class Engine {
public:
    Engine(std::string state_directory, const Root& root, Systemd& systemd, model::AllowList allow);

    /// Takes a plan into the journal. denied: not allowed. conflict: the id was used before, or the
    /// same work failed the same way three times within the hour and nobody but root may try again.
    /// invalid: content is missing or another than announced, or the plan is too large to be read
    /// back from the journal.
    Result<PlanRecord> accept(const model::Plan& plan, std::span<Content> contents, Caller caller);
    /// The same for taking back everything of an owner.
    Result<PlanRecord> accept_undo(const std::string& id, const std::string& owner, Caller caller);
    /// What accept() and accept_undo() would refuse, as far as it can be known while another plan
    /// runs, which shall not stop in vain.
    Result<> acceptable(const model::Plan& plan, std::span<const Content> contents, Caller caller);
    Result<> undo_acceptable(const std::string& id, const std::string& owner, Caller caller);
    /// A plan that was interrupted, to be gone on with.
    Result<std::optional<PlanRecord>> interrupted();

    /// What is in the journal: of one that waits for a decision, what can still be read.
    Result<Recovered> journal();
    /// What a person decided about a damaged journal; root's alone.
    Result<> decide(RecordStore::Decision decision, Caller caller);

    Result<PlanState> carry_out(const PlanRecord& record, const Stop& stop,
                                const Runner::Listener& listener);

    Result<StepPreview> preview_step(const model::Step& step, Caller caller);
    Result<> check(const model::Plan& plan, Caller caller);
    Result<PlanRecord> plan(const std::string& id);
    Result<std::vector<PlanRecord>> history(std::uint32_t limit);
    Result<std::vector<std::string>> owners();
    Result<UnitStatus> unit(const std::string& name);
    const model::AllowList& allowed() const { return allow_; }
    void allow(model::AllowList allow) { allow_ = std::move(allow); }

    /// For those who refuse before anything reaches us. Any thread; in the audit with the next
    /// write_refusals().
    void note_refusal(Caller caller, std::string_view what);
    void write_refusals();

private:
    Result<PlanRecord> take_in(Journal& journal, PlanRecord record, std::uint32_t steps,
                               Caller caller);
    std::unexpected<Error> refuse(Caller caller, const Error& error);
    Result<StepPreview> preview_step(Records& records, const model::Step& step);

    RecordStore store_;
    const Root& root_;
    Systemd& systemd_;
    model::AllowList allow_;
    Refusals refusals_;
};

}  // namespace kubexm::executor
