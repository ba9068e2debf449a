#include "daemon/agent/plan_canceller.hpp"

#include "daemon/agent/on_behalf_of.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

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

}  // namespace

PlanCanceller::PlanCanceller(AgentContext& context, std::function<void()> observe)
    : context_(context), observe_(std::move(observe)), backoff_(1s, 5min) {}

void PlanCanceller::cancel_own(const Decision& decision) {
    const AgentState& state = context_.state.read();
    const bool is_open = state.plan && (state.plan->state == model::PlanState::proposed ||
                                        state.plan->state == model::PlanState::running);
    if (!is_open || state.plan->id == cancelled_) return;
    const model::PlanPurpose purpose = state.plan->purpose;
    const bool goes_on = purpose == model::PlanPurpose::release ||
                         (purpose == model::PlanPurpose::repair && allows_repair(decision.action));
    if (!goes_on) cancel(state.plan->id, decision);
}

/// Certificates are renewed in any case.
void PlanCanceller::cancel_observed(const Decision& decision) {
    const AgentState& state = context_.state.read();
    if (!state.executor.observed) return;
    const std::string& running = state.executor.observed->running_plan;
    const wire::Outcome* plan = state.executor.observed->outcome_of(running);
    if (plan == nullptr || plan->uid == 0 || running == cancelled_) return;
    if (is_stopped(state, decision, *plan)) cancel(running, decision);
}

void PlanCanceller::cancel(const std::string& plan, const Decision& decision) {
    cancelled_ = plan;
    auto on_answer = [this](const Result<wire::Reply>& reply) {
        if (!reply && reply.error().code != Code::not_found) return on_refused();
        backoff_.reset();
    };
    context_.executor.ask(wire::Cancel{plan, asked_by(context_.state.read(), decision)}, {},
                          lifetime_.guard(std::move(on_answer)));
}

/// Without a connection the next one leads to an observation.
void PlanCanceller::on_refused() {
    cancelled_.clear();
    auto timer = context_.loop.after(backoff_.next(context_.random()), [this] {
        const auto& connected = context_.state.read().executor.connected;
        if (connected && *connected) observe_();
    });
    if (timer) observe_later_ = *std::move(timer);
}

}  // namespace kubexm::agent
