#include "daemon/agent/reconciler.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/agent/join_strategy.hpp"
#include "daemon/agent/machine_files.hpp"
#include "daemon/agent/orders.hpp"
#include "daemon/agent/plan_run.hpp"
#include "daemon/base/log.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

/// Whether a decision determines the owner of this host, or that it has none.
bool settles_owner(const Decision& decision) {
    return decision.action == Action::wait || decision.action == Action::join ||
           decision.action == Action::maintain;
}

constexpr auto kFirstRepairWait = 5s;
constexpr auto kLongestRepairWait = 10min;
constexpr auto kForgetRepairs = 30min;

/// Doubled with every repair in a row.
std::chrono::seconds wait_after(std::uint32_t repairs) {
    constexpr std::uint32_t kMostDoublings = 7;
    const auto wait = kFirstRepairWait * (1U << std::min(repairs - 1, kMostDoublings));
    return std::min<std::chrono::seconds>(wait, kLongestRepairWait);
}

std::vector<model::UnitView> views_of(const std::vector<wire::ObservedUnit>& units) {
    std::vector<model::UnitView> views;
    views.reserve(units.size());
    for (const wire::ObservedUnit& unit : units) {
        views.push_back({unit.name, unit.active, unit.enablement});
    }
    return views;
}

/// The machine whose Node is to be watched; empty: none.
std::string owner_to_monitor(const AgentState& state) {
    const ExecutorState observed = state.executor.observed.value_or(ExecutorState{});
    if (state.decision && state.decision->action == Action::release) return "";
    if (state.decision && observed.is_joined(state.decision->owner)) return state.decision->owner;
    return observed.joined_machine();
}

bool is_repair(const std::optional<Decision>& decision) {
    return decision && decision->action == Action::repair;
}

void log_decision(const Decision& decision) {
    log::notice(fmt::format("next action: {}{}{}", name_of(decision.action),
                            decision.owner.empty() ? "" : ", owner " + decision.owner,
                            decision.message.empty() ? "" : ": " + decision.message));
}

}  // namespace

Reconciler::Reconciler(AgentContext& context, Management& management)
    : context_(context),
      management_(management),
      reporter_(context),
      events_(context),
      settings_(context, management),
      waiting_checks_(context),
      backoff_(1s, 5min) {
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
    if (!connected) return;
    subscribe();
    observe();
}

/// Until the connection ends.
void Reconciler::subscribe() {
    context_.executor.ask(wire::Subscribe{}, {},
                          lifetime_.guard([this](const Result<wire::Reply>& event) {
                              if (event) on_event(*event);
                          }));
}

void Reconciler::on_event(const wire::Reply& event) {
    if (const auto* drift = std::get_if<wire::Drift>(&event)) on_drift(drift->objects);
    if (const auto* bootstrap = std::get_if<wire::BootstrapKubeconfig>(&event)) {
        management_.on_bootstrap(*bootstrap);
    }
    if (const auto* changed = std::get_if<wire::UnitsChanged>(&event)) {
        context_.state.change(
            [&](AgentState& state) { state.executor.units = views_of(changed->units); });
    }
    // A plan of root has ended, or root confirmed CAs. An activity of ours ends with its own
    // observation.
    const bool is_busy = joining_ || releasing_ || followed_;
    const bool is_news = std::holds_alternative<wire::PlanSummary>(event) ||
                         std::holds_alternative<wire::TrustedAuthorities>(event);
    if (is_news && !is_busy) observe();
}

void Reconciler::on_drift(const std::vector<wire::DriftedObject>& objects) {
    for (const wire::DriftedObject& each : objects) {
        log::notice(
            fmt::format("{} differs from what was applied: {}; kubexmctl pause stops repairs",
                        each.object, each.found));
    }
    const auto now = context_.state.now();
    context_.state.change([&](AgentState& state) {
        state.executor.drift = objects;
        state.executor.drift_known = true;
        std::erase_if(state.repairs,
                      [&](const auto& each) { return now - each.second.last > kForgetRepairs; });
    });
    auto next = std::chrono::sys_seconds::max();
    for (const wire::DriftedObject& each : objects) {
        const auto repairs = context_.state.read().repairs.find(each.object);
        if (repairs != context_.state.read().repairs.end()) {
            next = std::min(next, repairs->second.not_before);
        }
    }
    if (next == std::chrono::sys_seconds::max()) return;
    auto timer = context_.loop.after(next - now, [this] { evaluate_soon(); });
    if (timer) next_repair_ = *std::move(timer);
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
        auto timer = context_.loop.after(backoff_.next(), [this] { observe(); });
        if (timer) observe_again_ = *std::move(timer);
        return;
    }
    context_.state.change([&](AgentState& state) {
        state.executor.connected = Result<>();
        state.executor.observed = ExecutorState{observed->owners, observed->running_plan};
        state.executor.units = views_of(observed->units);
        state.executor.unconfirmed = observed->unconfirmed;
        state.executor.pending_renderings = state.executor.observed->pending_renderings();
    });
    if (context_.state.read().released) on_release_observed();
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
    const auto next = decide(context_.state.read(), context_.state.now());
    // During a release the observed owners shrink, and the ByoHost is freed in several patches: do
    // not start the release again because of that.
    const bool goes_on = (releasing_ && next && next->action == Action::release) ||
                         (followed_ && is_repair(context_.state.read().decision));
    if (next && !goes_on && context_.state.read().decision != next) return switch_to(*next);
    // Work first: its requests get the connections that are open.
    if (next) go_on(*next);
    // Only now: an older decision does not fit orders that have just arrived.
    reporter_.update();
    events_.update();
}

void Reconciler::go_on(const Decision& decision) {
    monitor_node();
    if (joining_ || releasing_ || followed_ || context_.state.read().failure) return;
    // While the executor is away the observation is stale: on_executor() asks for another.
    const auto& connected = context_.state.read().executor.connected;
    if (!connected || !*connected) return;
    if (std::exchange(is_joined_in_vain_, false)) {
        return fail_activity(
            {Code::internal, "the join is done, but the executor does not show what is wanted"});
    }
    begin(decision);
}

/// The change of the state leads to the next evaluation, which begins the work.
void Reconciler::switch_to(const Decision& decision) {
    retry_.reset();
    backoff_.reset();
    joining_.reset();
    releasing_.reset();
    followed_.reset();
    is_joined_in_vain_ = false;
    log_decision(decision);
    if (settles_owner(decision)) remove_stale_credentials(decision.owner);
    // A kill may have come between the release and the end of its memory.
    if (decision.action == Action::wait && decision.owner.empty()) {
        std::ignore = remember(context_, [](Memory& memory) {
            memory.joined.reset();
            memory.leave.reset();
        });
    }
    if (decision.action == Action::pause || decision.action == Action::ignore) {
        cancel_running_plan();
    }
    arm_end_of_pause(decision);
    context_.state.change([&](AgentState& state) {
        state.decision = decision;
        state.failure.reset();
    });
}

/// Those of a machine that is still present may be needed: an adoption copies them.
void Reconciler::remove_stale_credentials(const std::string& owner) {
    const auto& observed = context_.state.read().executor.observed;
    auto machines = observed.value_or(ExecutorState{}).present_machines();
    machines.push_back(owner);
    remove_all_but(machines, context_.store);
}

void Reconciler::begin(const Decision& decision) {
    if (const std::string plan = unseen_end(); !plan.empty()) return follow(plan);
    if (decision.action == Action::join || decision.action == Action::adopt) begin_join(decision);
    if (decision.action == Action::release) begin_release(decision);
    if (decision.action == Action::repair) begin_repair(decision);
}

/// A refusal is no failure of the node: the executor sends what differs when it has changed.
void Reconciler::begin_repair(const Decision& decision) {
    const auto now = context_.state.now();
    followed_ = std::make_unique<PlanRun>(context_, PlanRun::Repair{decision.owner},
                                          [this](const Result<wire::PlanSummary>& end) {
                                              if (!end) log::warning(end.error().what);
                                              followed_.reset();
                                              observe();
                                          });
    context_.state.change([&](AgentState& state) {
        for (const wire::DriftedObject& each : state.executor.drift) {
            if (each.owner != decision.owner) continue;
            RepairState& repairs = state.repairs[each.object];
            repairs.last = now;
            repairs.not_before = now + wait_after(++repairs.count);
        }
    });
    followed_->start();
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
        strategy->join(context_, management_.api(), {decision.owner, *state.host, decision.from},
                       [this](const Result<>& outcome) { end_activity(outcome); });
    joining_->start();
}

void Reconciler::begin_release(const Decision& decision) {
    const std::string owner =
        decision.owner.empty() ? stored_owner(context_.store) : decision.owner;
    if (owner.empty()) return on_released("");
    releasing_ = strategy_of(context_.state.read(), owner)
                     .leave(context_, owner,
                            [this](const Result<std::string>& message) { on_released(message); });
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
    if (context_.state.read().credentials_problem) forget_monitor();
    is_joined_in_vain_ = true;  // unless the next observation leads to another decision
    observe();
}

/// The join has stored another certificate: the next monitor uses it.
void Reconciler::forget_monitor() {
    monitored_.clear();
    monitor_.reset();
    context_.state.change([](AgentState& state) { state.credentials_problem.reset(); });
}

/// What is left on the host is observed before the ByoHost is freed.
void Reconciler::on_released(const Result<std::string>& message) {
    if (!message) {
        releasing_.reset();
        return fail_activity(message.error());
    }
    context_.state.change([&](AgentState& state) { state.released = Released{*message}; });
    observe();
}

/// An interrupted adoption leaves a node with two owners: it is released when both are gone. The
/// ByoHost is freed where it asked for the release; after `kubexmctl leave` it still names its
/// machine, and the host waits for other orders.
void Reconciler::on_release_observed() {
    const auto& observed = context_.state.read().executor.observed;
    if (observed && observed->has_unreleased_machine()) {
        releasing_.reset();
        return context_.state.change([](AgentState& state) { state.released.reset(); });
    }
    // Stale from now on: the patches must not lead to a decision.
    context_.state.change([](AgentState& state) { state.executor.observed.reset(); });
    const auto& host = context_.state.read().host;
    if (!host || !host->release_asked) return end_release(true);
    reporter_.free_host(lifetime_.guard([this](bool freed) { end_release(freed); }));
}

void Reconciler::end_release(bool freed) {
    if (freed) {
        std::ignore = remember(context_, [](Memory& memory) { memory.joined.reset(); });
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
    context_.state.change([&](AgentState& state) { state.failure = ActivityFailure{error}; });
    auto timer = context_.loop.after(backoff_.next(), [this] {
        context_.state.change([](AgentState& state) { state.failure.reset(); });
        observe();
    });
    if (timer) retry_ = *std::move(timer);
}

void Reconciler::monitor_node() {
    const std::string owner = owner_to_monitor(context_.state.read());
    if (owner == monitored_) {
        if (monitor_) monitor_->update_labels();
        return;
    }
    monitored_ = owner;
    monitor_.reset();
    context_.state.change([](AgentState& state) { state.credentials_problem.reset(); });
    if (owner.empty()) return;
    monitor_ =
        std::make_unique<NodeMonitor>(context_, strategy_of(context_.state.read(), owner), owner);
    auto started = monitor_->start();
    if (started) return;
    log::warning(started.error().what);
    monitor_.reset();
    context_.state.change([&](AgentState& state) { state.credentials_problem = started.error(); });
}

void Reconciler::cancel_running_plan() {
    const AgentState& state = context_.state.read();
    const bool is_ours = state.plan && state.plan->state == model::PlanState::running &&
                         state.plan->purpose != model::PlanPurpose::release;
    if (!is_ours) return;
    context_.executor.ask(wire::Cancel{state.plan->id}, {}, [](const Result<wire::Reply>&) {});
}

void Reconciler::arm_end_of_pause(const Decision& decision) {
    end_of_pause_.reset();
    const auto& pause = context_.state.read().memory.pause;
    if (decision.action != Action::pause || !pause || pause->until == 0) return;
    const auto left = std::chrono::seconds(pause->until) - context_.state.now().time_since_epoch();
    auto timer = context_.loop.after(left + 1s, [this] { evaluate_soon(); });
    if (timer) end_of_pause_ = *std::move(timer);
}

}  // namespace kubexm::agent
