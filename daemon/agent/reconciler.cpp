#include "daemon/agent/reconciler.hpp"

#include <fmt/format.h>

#include "daemon/agent/join_strategy.hpp"
#include "daemon/agent/machine_files.hpp"
#include "daemon/agent/plan_run.hpp"
#include "daemon/agent/repair_backoff.hpp"
#include "daemon/base/log.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

/// The hash of the state that the executor has applied for an owner.
std::string applied_state(const AgentState& state, const std::string& owner) {
    const wire::Outcome* applied =
        state.executor.observed ? state.executor.observed->applied_join(owner) : nullptr;
    return applied == nullptr ? "none" : applied->wanted;
}

bool changes_nothing(Action action) {
    return action == Action::pause || action == Action::ignore || action == Action::hold ||
           action == Action::refuse;
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
      timers_(context, [this] { evaluate_soon(); }),
      memory_(context),
      observer_(context, management,
                {[this] { return is_busy(); },
                 [this] {
                     if (releasing_) releasing_->on_observed();
                 }}),
      node_(context, [this] { observer_.observe(); }),
      canceller_(context, [this] { observer_.observe(); }),
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
    timers_.update();
    memory_.update();
    const auto next = decide(context_.state.read(), context_.state.now());
    // During a release the observed owners shrink, and the ByoHost is freed in several patches: do
    // not start the release again because of that.
    const bool goes_on =
        (releasing_ && next && next->action == Action::release) ||
        (followed_ && next && ends_no_repair(context_.state.read().decision, *next));
    if (next && !goes_on && context_.state.read().decision != next) return switch_to(*next);
    // Work first: its requests get the connections that are open.
    node_.update();
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
    is_idle ? canceller_.cancel_observed(decision) : begin(decision);
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
    memory_.on_decision(decision);
    if (decision.action != Action::release) remove_stale_credentials(decision.owner);
    if (changes_nothing(decision.action)) canceller_.cancel_own(decision);
    context_.state.change([&](AgentState& state) {
        state.decision = decision;
        state.failure.reset();
        if (is_interrupted) state.executor.is_interrupted = true;
    });
    if (is_interrupted) observer_.observe();
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
    observer_.observe();
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
                       [this](const Result<>& outcome) { on_joined(outcome); });
    joining_->start();
}

void Reconciler::begin_release(const Decision& decision) {
    releasing_ = std::make_unique<HostRelease>(
        context_, reporter_, decision, [this] { observer_.observe(); },
        [this](const Result<>& outcome) { on_released(outcome); });
    releasing_->start();
}

void Reconciler::on_released(const Result<>& outcome) {
    releasing_.reset();
    context_.state.change([](AgentState& state) {
        if (std::exchange(state.released, std::nullopt)) state.node.reset();
    });
    if (!outcome) return fail_activity(outcome.error());
    backoff_.reset();
    observer_.observe();
}

/// Observe and decide again after its end.
void Reconciler::follow(const std::string& plan) {
    followed_ = std::make_unique<PlanRun>(context_, PlanRun::Follow{plan},
                                          [this](const Result<wire::PlanSummary>&) {
                                              followed_.reset();
                                              observer_.observe();
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

void Reconciler::on_joined(const Result<>& outcome) {
    joining_.reset();
    if (!outcome) return fail_activity(outcome.error());
    node_.on_joined();
    is_joined_in_vain_ = true;  // unless the next observation leads to another decision
    observer_.observe();
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
        observer_.observe();
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

}  // namespace kubexm::agent
