#include "daemon/executor/engine/runner.hpp"

#include <fmt/format.h>

#include "daemon/base/try.hpp"
#include "daemon/executor/engine/contents.hpp"
#include "daemon/executor/engine/forward.hpp"
#include "daemon/executor/engine/run.hpp"
#include "daemon/executor/engine/undo.hpp"

namespace kubexm::executor {

namespace {

Result<PlanState> carry_out(Run& run) {
    if (run.record().purpose == PlanPurpose::release) return LedgerUndo(run).run();
    auto plan = model::plan_from_json(run.record().document);
    // Written by another version. If it stayed running, it would block every other plan forever.
    if (!plan) return run.failed({Code::corrupt, "plan in the journal: " + plan.error().what}, {});
    if (auto good = run.permitted_again(*plan); !good) return run.failed(good.error(), {});
    return Forward(run, *plan).run();
}

}  // namespace

Runner::Runner(Parts parts, Listener listener)
    : parts_(std::move(parts)), listener_(std::move(listener)) {}

Result<PlanState> Runner::run(const PlanRecord& record, const Stop& stop) {
    Run run(parts_, listener_, record, stop);
    parts_.systemd.on_wait([&](const std::string& unit, std::chrono::seconds waited) {
        run.report_progress(
            fmt::format("waiting for systemd job of {} for {} s", unit, waited.count()));
    });
    auto state = carry_out(run);
    parts_.systemd.on_wait({});
    if (!state || *state == PlanState::running) return state;  // still needs its contents
    TRY(drop_unused_contents(parts_.journal, parts_.vault));
    return state;
}

}  // namespace kubexm::executor
