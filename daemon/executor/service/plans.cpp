#include <algorithm>
#include <tuple>

#include "daemon/executor/service/plan_log.hpp"
#include "daemon/executor/service/replies.hpp"
#include "daemon/executor/service/service.hpp"

// Plans on their way through the worker: one at a time, an interrupted one before all others.

namespace kubexm::executor {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kFirstRetry = 1s;
constexpr std::chrono::milliseconds kSlowestRetry = 60s;

/// A full disk, an I/O error and a read-only file system may pass; damage and another process that
/// has the journal do not.
bool may_pass(Code code) { return code != Code::corrupt && code != Code::conflict; }

}  // namespace

/// Any thread. A plan waits for the one that runs. False: there was no room, and the asker knows.
bool Service::queue_plan(const Asker& asker, bool replace, Accept accept) {
    const bool queued = worker_.plan(
        asker.caller.uid, [this, asker, replace, accept = std::move(accept)]() mutable {
            auto ready = go_on(replace);
            auto record = ready ? accept() : std::unexpected(ready.error());
            if (!record) return end_offer(asker, refused(record.error()));
            const Stop stop = worker_.begin_plan(record->id);  // it can be cancelled once accepted
            log_accepted(*record);
            begin_events(record->id);
            end_offer(asker, wire::Accepted{record->id});
            std::ignore = carry_out(*record, stop);  // those who follow are told
        });
    if (queued) return true;
    turn_down(asker, {Code::exhausted, "too many plans wait already: try again later"});
    return false;
}

/// A plan takes the place of the one that runs, which stops at its next step: not for one that is
/// refused, nor for one that finds no room. On the worker's thread, where no other plan can begin
/// meanwhile and be stopped instead.
void Service::replace_plan(const Asker& asker, Check check, Accept accept) {
    auto checked = [this, asker, check = std::move(check), accept = std::move(accept)]() mutable {
        if (auto good = check(); !good) return end_offer(asker, refused(good.error()));
        if (queue_plan(asker, true, std::move(accept))) worker_.stop_plan();
    };
    if (worker_.query(asker.caller.uid, std::move(checked))) return;
    turn_down(asker, too_many_of(asker.caller));
}

void Service::recover() {
    worker_.plan(0, [this] {
        auto outcome = go_on(false);
        if (outcome) loop_.post([this] { on_health({}); });
    });
}

/// Worker thread. Ends the plan that a crash or a fault of the journal interrupted, if there is
/// one: at its next step where another takes its place.
Result<> Service::go_on(bool replaced) {
    auto record = engine_.interrupted();
    if (!record) {
        loop_.post([this, fault = record.error()] { on_health(std::unexpected(fault)); });
        return std::unexpected(record.error());
    }
    const std::optional<PlanRecord>& plan = *record;
    if (!plan) return {};
    log_resumed(*plan);
    begin_events(plan->id);
    const Stop stop = worker_.begin_plan(plan->id);
    if (replaced) worker_.stop_plan();
    return carry_out(*plan, stop);
}

/// Worker thread.
Result<> Service::carry_out(const PlanRecord& record, const Stop& stop) {
    const Runner::Listener listener{
        .report =
            [this](const Report& report) {
                if (report.progress.empty()) log_step(report);
                loop_.post([this, event = event_of(report)] { on_report(event); });
            },
        .between_steps = [this] { worker_.serve_queries(); },
    };
    auto state = engine_.carry_out(record, stop, listener);
    PlanRecord ended = record;
    if (auto now = engine_.plan(record.id)) ended = *std::move(now);
    if (!state) ended.last_error = state.error().what;
    log_end(ended);
    loop_.post([this, summary = summary_of(ended)] { on_end(summary); });
    if (state) return {};
    loop_.post([this, fault = state.error()] { on_health(std::unexpected(fault)); });
    return std::unexpected(state.error());
}

/// Worker thread.
void Service::begin_events(const std::string& plan_id) {
    loop_.post([this, plan_id] {
        current_plan_ = plan_id;
        current_events_.clear();
        current_end_.reset();
        say_status("Plan " + plan_id + " runs.");
    });
}

void Service::on_health(const Result<>& outcome) {
    rest_.touch();
    options_.on_health(outcome);
    retry_.reset();
    if (outcome) {
        retry_delay_ = kFirstRetry;
        return;
    }
    if (!may_pass(outcome.error().code)) return;
    auto retry = loop_.after(retry_delay_, [this] { recover(); });
    if (retry) retry_ = *std::move(retry);
    retry_delay_ = std::clamp(2 * retry_delay_, kFirstRetry, kSlowestRetry);
}

}  // namespace kubexm::executor
