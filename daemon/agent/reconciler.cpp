#include "daemon/agent/reconciler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>

#include "daemon/agent/conditions.hpp"
#include "daemon/agent/join_strategy.hpp"
#include "daemon/agent/known_node.hpp"
#include "daemon/agent/machine_files.hpp"
#include "daemon/agent/orders.hpp"
#include "daemon/agent/plan_run.hpp"
#include "daemon/agent/releasing.hpp"
#include "daemon/agent/repair_backoff.hpp"
#include "daemon/base/log.hpp"
#include "daemon/base/overloaded.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

constexpr auto kMonitorAgain = 5min;

template <typename T, typename... Types>
concept OneOf = (std::same_as<T, Types> || ...);

/// No event. A type that is in neither list does not compile.
template <typename T>
concept AnswerToRequest = OneOf<T, wire::Hello, wire::Refused, wire::Accepted, wire::StepPreview,
                                wire::StepEvent, wire::Observation, wire::JournalEntry,
                                wire::JournalState, wire::PreflightResult, wire::End>;

std::vector<model::UnitView> views_of(const std::vector<wire::ObservedUnit>& units) {
    std::vector<model::UnitView> views;
    views.reserve(units.size());
    for (const wire::ObservedUnit& unit : units) {
        views.push_back({unit.name, unit.active, unit.enablement});
    }
    return views;
}

/// Units that are not among the changed ones stay as they are known.
void merge_units(std::vector<model::UnitView>& known, std::vector<model::UnitView> changed) {
    for (model::UnitView& unit : changed) {
        const auto present = std::ranges::find(known, unit.name, &model::UnitView::name);
        if (present == known.end()) {
            known.push_back(std::move(unit));
        } else {
            *present = std::move(unit);
        }
    }
}

/// The hash of the state that the executor has applied for an owner.
std::string applied_state(const AgentState& state, const std::string& owner) {
    const wire::Outcome* applied =
        state.executor.observed ? state.executor.observed->applied_join(owner) : nullptr;
    return applied == nullptr ? "none" : applied->wanted;
}

/// The machine whose Node is to be watched; empty: none. Until the executor has answered, that of
/// an earlier process.
std::string owner_to_monitor(const AgentState& state) {
    const auto& known = state.executor.known;
    if (state.decision && state.decision->action == Action::release) return "";
    if (!known) {
        const JoinedMachine* node = remembered_node(state);
        return node == nullptr || is_leaving(state) ? "" : node->owner;
    }
    if (state.decision && known->is_joined(state.decision->owner)) return state.decision->owner;
    return known->joined_machine();
}

bool changes_nothing(Action action) {
    return action == Action::pause || action == Action::ignore || action == Action::hold ||
           action == Action::refuse;
}

/// A host that is held is repaired, and goes on with a plan of an earlier process: half of it would
/// be worse.
bool is_stopped(const AgentState& state, const Decision& decision, const wire::Outcome& plan) {
    const bool is_join = plan.purpose == model::PlanPurpose::join;
    const bool is_repair = plan.purpose == model::PlanPurpose::repair;
    if (allows_repair(decision.action)) {
        return is_join && state.plan && state.plan->id == plan.plan_id;
    }
    const bool is_paused = decision.action == Action::pause || decision.action == Action::ignore;
    return (is_join || is_repair) && (is_paused || (state.plan && state.plan->id == plan.plan_id));
}

/// During a repair the reported differences shrink. A person or orders may still end it.
bool ends_no_repair(const std::optional<Decision>& present, const Decision& next) {
    if (!present || present->repair.empty() || !allows_repair(next.action)) return false;
    return present->repair == next.owner || present->repair == next.from;
}

void log_decision(const Decision& decision) {
    log::notice(fmt::format("next action: {}{}{}{}", name_of(decision.action),
                            decision.owner.empty() ? "" : ", owner " + decision.owner,
                            decision.repair.empty() ? "" : ", first repair " + decision.repair,
                            decision.message.empty() ? "" : ": " + decision.message));
}

}  // namespace

Reconciler::Reconciler(AgentContext& context, Management& management)
    : context_(context),
      management_(management),
      reporter_(context),
      events_(context),
      settings_(context, management),
      waiting_checks_(context, management),
      subscriptions_(1s, 5min),
      backoff_(1s, 5min),
      memory_backoff_(1s, 5min) {
    context_.state.on_change([this] { evaluate_soon(); });
}

/// Activities change the state when they are destroyed: nothing is decided any more.
Reconciler::~Reconciler() {
    context_.state.on_change([] {});
}

void Reconciler::on_host() {
    reporter_.use(management_.api().api);
    events_.use(management_.api().api);
}

void Reconciler::on_management_lost() {
    reporter_.use(nullptr);
    events_.use(nullptr);
    settings_.stop();
    joining_.reset();
}

void Reconciler::on_executor(const Result<>& connected) {
    context_.state.change([&](AgentState& state) { state.executor.connected = connected; });
    is_linked_ = connected.has_value();
    subscribe_later_.reset();
    if (!connected) return;
    subscriptions_.reset();
    subscribe();
    observe();
}

/// Until the connection ends, or an event is too large for a frame.
void Reconciler::subscribe() {
    context_.executor.ask(wire::Subscribe{}, {},
                          lifetime_.guard([this](const Result<wire::Reply>& event) {
                              if (!event) return subscribe_again(event.error());
                              on_event(*event);
                          }));
}

/// With the next connection on_executor() does.
void Reconciler::subscribe_again(const Error& why) {
    if (!is_linked_) return;
    log::warning("the executor reports no changes for now: " + why.what);
    auto timer = context_.loop.after(subscriptions_.next(context_.random()), [this] {
        subscribe();
        observe_unless_busy();  // what happened meanwhile
    });
    if (timer) subscribe_later_ = *std::move(timer);
}

void Reconciler::on_event(const wire::Reply& event) {
    std::visit(
        overloaded{
            [&](const wire::Drift& drift) { on_drift(drift.objects); },
            [&](const wire::BootstrapKubeconfig& changed) { management_.on_bootstrap(changed); },
            [&](const wire::UnitsChanged& changed) { on_units(changed); },
            [&](const wire::PermitsChanged& changed) {
                context_.state.change(
                    [&](AgentState& state) { state.executor.permits = changed.permits; });
            },
            // A plan of root has begun or ended.
            [&](const wire::PlanSummary&) { observe_unless_busy(); },
            [&](const wire::TrustedAuthorities&) { observe_unless_busy(); },
            [](const AnswerToRequest auto&) {},
        },
        event);
}

void Reconciler::on_units(const wire::UnitsChanged& changed) {
    context_.state.change(
        [&](AgentState& state) { merge_units(state.executor.units, views_of(changed.units)); });
}

/// An activity of ours ends with its own observation.
void Reconciler::observe_unless_busy() {
    if (!is_busy()) observe();
}

void Reconciler::on_drift(const std::vector<wire::DriftedObject>& objects) {
    for (const wire::DriftedObject& each : objects) {
        const bool ends_with_pause = is_repaired(context_.state.read(), each.owner);
        log::notice(fmt::format("{} differs from what was applied: {}{}", each.object, each.found,
                                ends_with_pause ? "; kubexmctl pause stops repairs" : ""));
    }
    const auto now = context_.state.now();
    context_.state.change([&](AgentState& state) {
        state.executor.drift = objects;
        state.executor.drift_known = true;
        if (objects.empty()) state.repair_asked_by.reset();
        update_repairs(state, now);
    });
}

void Reconciler::observe() {
    observe_again_.reset();
    context_.state.change([](AgentState& state) { state.executor.observed.reset(); });
    context_.executor.ask(
        wire::Observe{}, {},
        lifetime_.guard([this, number = ++observation_](const Result<wire::Reply>& reply) {
            if (number == observation_) on_observed(reply);
        }));
}

void Reconciler::on_observed(const Result<wire::Reply>& reply) {
    const auto* observed = reply ? std::get_if<wire::Observation>(&*reply) : nullptr;
    if (observed == nullptr) {
        // The executor may refuse while the connection stays: ask again.
        const Error why = reply ? Error{Code::internal, "unexpected reply"} : reply.error();
        log::warning("cannot observe the host: " + why.what);
        context_.state.change(
            [&](AgentState& state) { state.executor.connected = std::unexpected(why); });
        return observe_later();
    }
    context_.state.change([&](AgentState& state) {
        state.executor.connected = Result<>();
        state.executor.observed = ExecutorState{observed->owners, observed->running_plan};
        state.executor.known = state.executor.observed;
        state.executor.is_interrupted = false;
        state.executor.units = views_of(observed->units);
        state.executor.unconfirmed = observed->unconfirmed;
        state.executor.permits = observed->permits;
        state.executor.pending_renderings = state.executor.observed->pending_renderings();
    });
    overlook_shown_release();
    if (context_.state.read().released) on_release_observed();
}

void Reconciler::observe_later() {
    auto timer = context_.loop.after(backoff_.next(context_.random()), [this] { observe(); });
    if (timer) observe_again_ = *std::move(timer);
}

/// Of a resume, or of a join, while the executor was away.
void Reconciler::overlook_shown_release() {
    const AgentState& state = context_.state.read();
    if (!state.memory.joined || !state.memory.joined->overlooks_release) return;
    std::ignore = remember(context_, [&](Memory& memory) {
        overlook_release(*memory.joined, state.executor.observed);
    });
}

void Reconciler::evaluate_soon() {
    if (std::exchange(evaluation_pending_, true)) return;
    context_.loop.post(lifetime_.guard([this] {
        evaluation_pending_ = false;
        evaluate();
    }));
}

void Reconciler::evaluate() {
    management_.update();
    settings_.update();
    waiting_checks_.update();
    arm_end_of_pause();
    arm_next_repair();
    write_memory_later();
    const auto next = decide(context_.state.read(), context_.state.now());
    // During a release the observed owners shrink, and the ByoHost is freed in several patches: do
    // not start the release again because of that.
    const bool goes_on =
        (releasing_ && next && next->action == Action::release) ||
        (followed_ && next && ends_no_repair(context_.state.read().decision, *next));
    if (next && !goes_on && context_.state.read().decision != next) return switch_to(*next);
    // Work first: its requests get the connections that are open.
    monitor_node();
    if (next) go_on(*next);
    // Only now: an older decision does not fit orders that have just arrived.
    reporter_.update();
    events_.update();
}

void Reconciler::go_on(const Decision& decision) {
    if (is_busy() || retry_ || context_.state.read().failure) return;
    // While the executor is away the observation is stale: on_executor() asks for another.
    const auto& connected = context_.state.read().executor.connected;
    if (!connected || !*connected) return;
    if (std::exchange(is_joined_in_vain_, false)) {
        return fail_activity(
            {Code::internal,
             fmt::format("join of {}: expected state {}, the executor reports {}", decision.owner,
                         decision.wanted, applied_state(context_.state.read(), decision.owner))});
    }
    const bool is_idle = decision.repair.empty() && changes_nothing(decision.action);
    is_idle ? cancel_what_still_runs(decision) : begin(decision);
}

/// The change of the state leads to the next evaluation, which begins the work. The host is
/// observed first where an activity has changed it since the last observation.
void Reconciler::switch_to(const Decision& decision) {
    const bool is_interrupted = is_busy();
    retry_.reset();
    backoff_.reset();
    refusals_ = 0;
    joining_.reset();
    releasing_.reset();
    followed_.reset();
    is_joined_in_vain_ = false;
    log_decision(decision);
    if (decision.action == Action::wait && decision.owner.empty()) forget_machine();
    if (decision.action != Action::release) remove_stale_credentials(decision.owner);
    if (changes_nothing(decision.action)) cancel_running_plan(decision);
    remember_stale_order(decision);
    context_.state.change([&](AgentState& state) {
        state.decision = decision;
        state.failure.reset();
        if (is_interrupted) state.executor.is_interrupted = true;
    });
    if (is_interrupted) observe();
}

/// A held release order stays held: writes to a restored ByoHost make it look newer than the join.
void Reconciler::remember_stale_order(const Decision& decision) {
    const auto& host = context_.state.read().host;
    const bool is_stale = decision.reason == kStaleReleaseOrder;
    if (!is_stale && (!host || host->release_asked)) return;
    std::ignore = remember(
        context_, [&](Memory& memory) { memory.stale_release = is_stale ? decision.owner : ""; });
}

/// A kill may have come between the release and the end of its memory.
void Reconciler::forget_machine() {
    std::ignore = remember_anyway(context_, [](Memory& memory) {
        memory.joined.reset();
        memory.leave.reset();
    });
}

/// What could not be written when it was to be remembered.
void Reconciler::write_memory_later() {
    if (!context_.state.read().is_memory_unwritten) return memory_backoff_.reset();
    if (write_memory_) return;
    auto timer = context_.loop.after(memory_backoff_.next(context_.random()), [this] {
        write_memory_.reset();
        if (!remember(context_, [](Memory&) {})) write_memory_later();
    });
    if (timer) write_memory_ = *std::move(timer);
}

/// Those of a machine that is still present may be needed: an adoption copies them. So may those of
/// a machine in the memory: its Node is not deleted yet.
void Reconciler::remove_stale_credentials(const std::string& owner) {
    const AgentState& state = context_.state.read();
    auto machines = state.executor.observed.value_or(ExecutorState{}).present_machines();
    machines.push_back(owner);
    if (state.memory.joined) machines.push_back(state.memory.joined->owner);
    remove_all_but(machines, context_.store);
}

void Reconciler::begin(const Decision& decision) {
    if (const std::string plan = unseen_end(); !plan.empty()) return follow(plan);
    if (!decision.repair.empty()) return begin_repair(decision.repair);
    if (decision.action == Action::join || decision.action == Action::adopt) begin_join(decision);
    if (decision.action == Action::release) begin_release(decision);
}

/// A refusal is no failure of the node: the next try follows.
void Reconciler::begin_repair(const std::string& owner) {
    const auto now = context_.state.now();
    followed_ = std::make_unique<PlanRun>(
        context_, PlanRun::Repair{owner, repair_asked_by(context_.state.read())},
        [this, now](const Result<wire::PlanSummary>& end) { on_repaired(now, end); });
    context_.state.change([&](AgentState& state) {
        state.repair_asked_by.reset();
        note_repair(state, owner, now);
    });
    followed_->start();
}

void Reconciler::on_repaired(std::chrono::sys_seconds begun, const Result<wire::PlanSummary>& end) {
    if (!end) log::warning(end.error().what);
    if (end) context_.state.change([&](AgentState& state) { note_repaired(state, begun); });
    followed_.reset();
    observe();
}

/// A plan from before a restart, or of another owner, goes first.
void Reconciler::begin_join(const Decision& decision) {
    const AgentState& state = context_.state.read();
    if (!state.executor.observed || !state.host) return;
    const std::string& running = state.executor.observed->running_plan;
    if (!running.empty()) return follow(running);
    const JoinStrategy* strategy = find_strategy(state.host->join_mode);
    if (strategy == nullptr) return;  // the decision is about to follow
    joining_ =
        strategy->join(context_, management_.api(),
                       {decision.owner, *state.host, decision.from, asked_by(state, decision)},
                       [this](const Result<>& outcome) { end_activity(outcome); });
    joining_->start();
}

void Reconciler::begin_release(const Decision& decision) {
    const std::string owner =
        decision.owner.empty() ? stored_owner(context_.store) : decision.owner;
    if (owner.empty()) return on_released(Freed{});
    const AgentState& state = context_.state.read();
    releasing_ = strategy_of(state, owner)
                     .leave(context_, owner, asked_by(state, decision),
                            [this](const Result<Freed>& freed) { on_released(freed); });
    releasing_->start();
}

/// Observe and decide again after its end.
void Reconciler::follow(const std::string& plan) {
    followed_ = std::make_unique<PlanRun>(context_, PlanRun::Follow{plan},
                                          [this](const Result<wire::PlanSummary>&) {
                                              followed_.reset();
                                              observe();
                                          });
    followed_->start();
}

/// The plan that is shown as running although it ended while the executor was away.
std::string Reconciler::unseen_end() const {
    const AgentState& state = context_.state.read();
    if (!state.executor.observed || !state.plan) return "";
    if (state.plan->state != model::PlanState::running) return "";
    const wire::Outcome* end = state.executor.observed->outcome_of(state.plan->id);
    if (end == nullptr || end->state == model::PlanState::running) return "";
    return state.plan->id;
}

void Reconciler::end_activity(const Result<>& outcome) {
    joining_.reset();
    if (!outcome) return fail_activity(outcome.error());
    const bool is_outdated = monitor_ && !monitor_->is_current();
    if (is_outdated || context_.state.read().credentials_problem) forget_monitor();
    is_joined_in_vain_ = true;  // unless the next observation leads to another decision
    observe();
}

/// The join has stored another certificate: the next monitor uses it.
void Reconciler::forget_monitor() {
    monitored_.clear();
    monitor_.reset();
    context_.state.change([](AgentState& state) { state.credentials_problem.reset(); });
}

/// What is left on the host is observed before the ByoHost is freed. A host that had no node leaves
/// nothing to remember.
void Reconciler::on_released(const Result<Freed>& freed) {
    if (!freed) {
        releasing_.reset();
        return fail_activity(freed.error());
    }
    if (!freed->owner.empty()) {
        std::ignore = remember_anyway(context_, [&](Memory& memory) { memory.freed = *freed; });
    }
    context_.state.change([&](AgentState& state) { state.released = Released{}; });
    observe();
}

/// An interrupted adoption leaves a node with two owners: it is released when both are gone. The
/// ByoHost is freed where it asked for the release; after `kubexmctl leave` it still names its
/// machine, and the host waits for other orders.
void Reconciler::on_release_observed() {
    const auto& observed = context_.state.read().executor.observed;
    if (observed && !observed->present_machines().empty()) {
        releasing_.reset();
        return context_.state.change([](AgentState& state) { state.released.reset(); });
    }
    // Stale from now on: the patches must not lead to a decision.
    context_.state.change([](AgentState& state) {
        const auto& freed = state.memory.freed;
        const auto& known = state.executor.known;
        if (freed && known) state.released = Released{release_message(*freed, *known)};
        state.executor.observed.reset();
    });
    const auto& host = context_.state.read().host;
    if (!host || !host->release_asked) return end_release(true);
    reporter_.free_host(lifetime_.guard([this](bool freed) { end_release(freed); }));
}

/// Also with a full disk.
void Reconciler::end_release(bool freed) {
    if (freed) {
        std::ignore = remember_anyway(context_, [](Memory& memory) { memory.joined.reset(); });
    }
    // Posted: this may be called by the Releasing that is destroyed.
    context_.loop.post(lifetime_.guard([this, freed] {
        releasing_.reset();
        context_.state.change([](AgentState& state) {
            state.released.reset();
            state.node.reset();
        });
        if (!freed) return fail_activity({Code::unavailable, "the ByoHost is not freed yet"});
        backoff_.reset();
        observe();
    }));
}

void Reconciler::fail_activity(const Error& error) {
    const auto& connected = context_.state.read().executor.connected;
    // A restart of the executor is no failure: it resumes the plan, and on_executor() goes on.
    if (connected && !*connected) return;
    log::warning(error.what);
    if (!is_refused_for_now(error)) {
        context_.state.change([&](AgentState& state) { state.failure = ActivityFailure{error}; });
    }
    auto timer = context_.loop.after(backoff_.next(context_.random()), [this] {
        retry_.reset();
        context_.state.change([](AgentState& state) { state.failure.reset(); });
        observe();
    });
    if (timer) retry_ = *std::move(timer);
}

/// The first refusals in a row are no news.
bool Reconciler::is_refused_for_now(const Error& error) {
    constexpr std::uint32_t kMostRefusals = 3;
    const bool is_refusal = context_.state.read().executor.refused == error;
    context_.state.change([](AgentState& state) { state.executor.refused.reset(); });
    refusals_ = is_refusal ? refusals_ + 1 : 0;
    return is_refusal && refusals_ <= kMostRefusals;
}

void Reconciler::monitor_node() {
    const std::string owner = owner_to_monitor(context_.state.read());
    if (owner == monitored_) {
        if (monitor_) monitor_->update();
        return;
    }
    monitored_ = owner;
    monitor_later_.reset();
    monitor_.reset();
    context_.state.change([](AgentState& state) { state.credentials_problem.reset(); });
    if (owner.empty()) return;
    monitor_ = std::make_unique<NodeMonitor>(context_, strategy_of(context_.state.read(), owner),
                                             owner, [this] { observe(); });
    auto started = monitor_->start();
    if (started) return;
    log::warning(started.error().what);
    monitor_.reset();
    context_.state.change([&](AgentState& state) { state.credentials_problem = started.error(); });
    monitor_later();
}

/// The disk may give the node's certificate then.
void Reconciler::monitor_later() {
    auto timer = context_.loop.after(kMonitorAgain, [this] {
        monitored_.clear();
        evaluate_soon();
    });
    if (timer) monitor_later_ = *std::move(timer);
}

void Reconciler::cancel_running_plan(const Decision& decision) {
    const AgentState& state = context_.state.read();
    const bool is_open = state.plan && (state.plan->state == model::PlanState::proposed ||
                                        state.plan->state == model::PlanState::running);
    if (!is_open || state.plan->id == cancelled_) return;
    const model::PlanPurpose purpose = state.plan->purpose;
    const bool goes_on = purpose == model::PlanPurpose::release ||
                         (purpose == model::PlanPurpose::repair && allows_repair(decision.action));
    if (!goes_on) cancel(state.plan->id, decision);
}

/// Its cancellation was refused, or a process that was killed before has begun it. Certificates
/// are renewed in any case.
void Reconciler::cancel_what_still_runs(const Decision& decision) {
    const AgentState& state = context_.state.read();
    if (!state.executor.observed) return;
    const std::string& running = state.executor.observed->running_plan;
    const wire::Outcome* plan = state.executor.observed->outcome_of(running);
    if (plan == nullptr || plan->uid == 0 || running == cancelled_) return;
    if (is_stopped(state, decision, *plan)) cancel(running, decision);
}

void Reconciler::cancel(const std::string& plan, const Decision& decision) {
    cancelled_ = plan;
    auto on_answer = [this](const Result<wire::Reply>& reply) {
        if (reply || reply.error().code == Code::not_found) return;
        cancelled_.clear();
        if (is_linked_) observe_later();
    };
    context_.executor.ask(wire::Cancel{plan, asked_by(context_.state.read(), decision)}, {},
                          lifetime_.guard(std::move(on_answer)));
}

/// Anew each time: a timer does not know that the clock was set, or that the host has slept.
void Reconciler::arm_end_of_pause() {
    end_of_pause_.reset();
    const auto& pause = context_.state.read().memory.pause;
    const auto now = context_.state.now();
    if (!pause || pause->until == 0 || !is_active(*pause, now)) return;
    const auto left = std::chrono::seconds(pause->until) - now.time_since_epoch();
    auto timer = context_.loop.after(left + 1s, [this] {
        context_.state.change([](AgentState&) {});  // the status depends on it, too
    });
    if (timer) end_of_pause_ = *std::move(timer);
}

/// The executor sends what differs once, also where its repair is refused.
void Reconciler::arm_next_repair() {
    const auto now = context_.state.now();
    const auto next = next_repair(context_.state.read(), now);
    if (next == next_repair_at_) return;
    next_repair_at_ = next;
    next_repair_.reset();
    if (!next) return;
    auto timer = context_.loop.after(*next - now, [this] {
        next_repair_at_.reset();
        evaluate_soon();
    });
    if (timer) next_repair_ = *std::move(timer);
}

}  // namespace kubexm::agent
