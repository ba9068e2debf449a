#include "daemon/executor/engine/run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "daemon/base/try.hpp"
#include "daemon/executor/engine/audit_queue.hpp"
#include "daemon/executor/engine/policy.hpp"
#include "daemon/executor/engine/quota.hpp"
#include "daemon/executor/engine/retry_limit.hpp"

namespace kubexm::executor {

namespace {

using namespace std::chrono_literals;

constexpr auto kProgressEvery = 1s;

}  // namespace

Run::Run(const Runner::Parts& parts, const Runner::Listener& listener, const PlanRecord& record,
         const Stop& stop)
    : parts_(parts), listener_(listener), record_(record), stop_(stop) {}

Context Run::context_for(const model::Step& step) {
    return {.root = parts_.root,
            .systemd = parts_.systemd,
            .vault = parts_.vault,
            .deadline = std::chrono::steady_clock::now() + model::traits_of(step).deadline,
            .previous = {},
            .any_command = permits_any_command(parts_.allow),
            .links = parts_.allow.links,
            .may_preserve = [this](std::int64_t bytes) { return may_preserve(bytes); },
            .progress = [this](const std::string& progress) { report_progress(progress); }};
}

/// A large file of the host is as good a way to fill the disk as content that is sent.
Result<> Run::may_preserve(std::int64_t bytes) const {
    if (record_.uid == 0) return {};
    const std::int64_t before = TRY(parts_.vault.bytes());
    return within_vault({}, before, before + bytes);
}

bool Run::should_stop() const {
    listener_.between_steps();
    return stop_requested();
}

void Run::begin(std::uint32_t index, const std::string& text) {
    current_ = {.plan_id = record_.id, .index = index, .state = StepState::prepared, .text = text};
    last_report_ = std::chrono::steady_clock::now();
}

void Run::report_progress(const std::string& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_report_ < kProgressEvery) return;
    last_report_ = now;
    Report report = current_;
    report.progress = progress;
    listener_.report(report);
}

void Run::report(StepState state, const std::string& unit, const Error& about) {
    Report report = current_;
    report.state = state;
    report.unit = unit;
    report.error = about.what;
    report.code = about.code;
    listener_.report(report);
}

Result<PlanState> Run::stopped(const std::vector<model::Remaining>& stays) {
    if (!stop_.cancel.stop_requested()) return PlanState::running;
    return end(PlanState::cancelled, "stopped on request", stays);
}

Result<PlanState> Run::failed(const Error& error, const std::vector<model::Remaining>& stays) {
    return failed(error, stays, counts_as_failure(error));
}

Result<PlanState> Run::failed(const Error& error, const std::vector<model::Remaining>& stays,
                              bool counts) {
    // The host may have refused a step that the policy permits, such as one with a link in its
    // path.
    const Caller asked{.uid = record_.uid};
    TRY(parts_.journal.audit(0, ::getpid(), "plan failed",
                             audited(asked, fmt::format("{}: {}", record_.id, error.what))));
    TRY(parts_.journal.end(record_.id, {.state = PlanState::failed,
                                        .error = error.what,
                                        .stays = model::to_json(stays),
                                        .counts = counts}));
    return PlanState::failed;
}

Result<PlanState> Run::end(PlanState state, std::string_view why,
                           const std::vector<model::Remaining>& stays) {
    TRY(parts_.journal.end(record_.id,
                           {.state = state, .error = why, .stays = model::to_json(stays)}));
    return state;
}

}  // namespace kubexm::executor
