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
    std::string error;           // failed: why; undone: the objects that could not be restored
    Code code = Code::internal;  // failed: the kind of error
    std::string unit;            // that the step starts or stops, if any
    std::string progress;        // if not empty, nothing else has changed
};

/// Runs plans of the journal in groups of steps: check, journal the pre-images, apply, check again,
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
        /// Whether kubexmd may still bring the CAs of a plan, apply its next step, and whether an
        /// owner's step may be applied again when others leave: root may have changed the lists
        /// since.
        std::function<Result<>(const model::Plan&)> plan_permitted;
        std::function<Result<>(const model::Plan&, const model::Step&)> permitted_now;
        std::function<Result<>(const std::string&, const model::Step&)> step_permitted;
    };
    struct Listener {
        std::function<void(const Report&)> report;
        /// Lets others use the worker thread.
        std::function<void()> between_steps;
        /// The same for some time, or until a stop is requested.
        std::function<void(std::chrono::seconds, const Stop&)> wait = [](std::chrono::seconds,
                                                                         const Stop&) {};
    };

    Runner(Parts parts, Listener listener);

    /// Runs a plan, or an undo, to its end, and returns the state it reached: `running` where it
    /// was left for a later process. `stop` is checked between steps. An error means that the
    /// journal failed; the plan can be resumed later.
    Result<PlanState> run(const PlanRecord& record, const Stop& stop);

private:
    Parts parts_;
    Listener listener_;
};

}  // namespace kubexm::executor
