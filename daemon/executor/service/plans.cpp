#include <tuple>
#include <utility>

#include "daemon/base/refusal.hpp"
#include "daemon/executor/service/plan_log.hpp"
#include "daemon/executor/service/replies.hpp"
#include "daemon/executor/service/service.hpp"

// Plans on the worker: one at a time, an interrupted one first.

namespace kubexm::executor {

namespace {

/// A full disk, an I/O error or a read-only file system can pass; damage, or a journal that another
/// process holds, cannot.
bool is_transient(Code code) { return code != Code::corrupt && code != Code::conflict; }

}  // namespace

/// Any thread. A queued plan waits for the running one; a request of root goes first. False: the
/// queue is full, and the requester was refused.
bool Service::queue_plan(const Requester& requester, bool replace, Accept accept) {
    const std::uint32_t user = requester.caller.uid;
    auto run = [this, requester, replace, accept = std::move(accept)]() mutable {
        std::optional<std::uint32_t> replaced_by;
        if (replace) replaced_by = requester.caller.uid;
        auto ready = resume_interrupted(replaced_by);
        auto record = ready ? accept() : std::unexpected(ready.error());
        if (!record) return reply(requester, refused(record.error()), wire::Part::last);
        // Before the client knows the plan, so that it can cancel it at once.
        const Stop stop = worker_.begin_plan(record->id, record->uid);
        log_accepted(*record);
        begin_events(*record);
        reply(requester, wire::Accepted{record->id}, wire::Part::last);
        std::ignore = carry_out(*record, stop);  // followers get the outcome
    };
    auto drop = [this, requester] {
        reply(requester,
              refused({Code::unavailable, "dropped: a request of root goes first; retry later"}),
              wire::Part::last);
    };
    const bool is_our_own = requester.session == 0;
    const bool is_roots = user == 0 && !is_our_own && !is_off("root-first");
    const bool queued = is_roots ? worker_.plan_of_root(std::move(run))
                                 : worker_.plan(user, std::move(run), std::move(drop));
    if (queued) return true;
    refuse(requester, {Code::exhausted, "too many plans are queued; retry later"});
    return false;
}

/// Stops the running plan at its next step once the new one is valid and queued. Checks on the
/// worker's thread: no other plan can start meanwhile and be stopped instead.
void Service::replace_plan(const Requester& requester, Check check, Accept accept) {
    auto checked = [this, requester, check = std::move(check),
                    accept = std::move(accept)]() mutable {
        const auto same = check();
        if (!same) return reply(requester, refused(same.error()), wire::Part::last);
        if (!same->empty()) return reply(requester, wire::Accepted{*same}, wire::Part::last);
        if (queue_plan(requester, true, std::move(accept))) {
            worker_.stop_plan_for(requester.caller.uid);
        }
    };
    if (worker_.query(requester.caller.uid, std::move(checked))) return;
    refuse(requester, too_many_requests(requester.caller));
}

void Service::recover() {
    worker_.plan(0, [this] {
        if (resume_interrupted({})) loop_.post([this] { on_health({}); });
    });
}

/// Worker thread. Carries out the plan that a crash or a journal fault interrupted, if any.
/// `replaced_by` a user who may stop it: at its next step.
Result<> Service::resume_interrupted(std::optional<std::uint32_t> replaced_by) {
    const auto interrupted = engine_.interrupted();
    if (!interrupted) return report_fault(interrupted.error());
    loop_.post([this] { on_open(); });
    const std::optional<PlanRecord>& plan = *interrupted;
    if (!plan) return {};
    log_resumed(*plan);
    begin_events(*plan);
    const Stop stop = worker_.begin_plan(plan->id, plan->uid);
    if (replaced_by) worker_.stop_plan_for(*replaced_by);
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
        .wait = [this](std::chrono::seconds time,
                       const Stop& until) { worker_.serve_queries_for(time, until); },
    };
    auto state = engine_.carry_out(record, stop, listener);
    PlanRecord ended = record;
    if (auto now = engine_.plan(record.id)) ended = *std::move(now);
    if (!state) ended.last_error = state.error().what;
    log_end(ended);
    loop_.post([this, summary = summary_of(ended)] { on_end(summary); });
    if (!state) return report_fault(state.error());
    return {};
}

/// Worker thread.
std::unexpected<Error> Service::report_fault(const Error& fault) {
    loop_.post([this, fault] { on_health(std::unexpected(fault)); });
    return std::unexpected(fault);
}

/// Worker thread.
void Service::begin_events(const PlanRecord& record) {
    loop_.post([this, summary = summary_of(record)] {
        current_plan_ = summary.plan_id;
        current_events_.clear();
        current_end_.reset();
        set_status("Plan " + summary.plan_id + " is running.");
        send_to(&OpenRequest::subscribes, summary, wire::Part::more);
    });
}

void Service::on_open() {
    if (!std::exchange(is_open_, true)) options_.on_open();
}

void Service::on_health(const Result<>& outcome) {
    idle_.touch();
    options_.on_health(outcome);
    retry_.reset();
    if (outcome) {
        retry_unfinished_undos();
        return backoff_.reset();
    }
    if (!is_transient(outcome.error().code)) return;
    // No jitter: the fault is of this host.
    auto retry = loop_.after(backoff_.next(0), [this] { recover(); });
    if (retry) retry_ = *std::move(retry);
}

}  // namespace kubexm::executor
