#include "daemon/agent/plan_run.hpp"

#include <fmt/format.h>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/overloaded.hpp"
#include "daemon/base/random.hpp"

namespace kubexm::agent {

namespace {

using model::PlanState;

constexpr std::size_t kMaxSteps = 1000;  // an undo has as many as the ledger has entries

model::PlanView new_view(const std::string& id, model::PlanPurpose purpose, PlanState state) {
    return {.id = id,
            .purpose = purpose,
            .hash = "",
            .state = state,
            .error = "",
            .stays = {},
            .steps = {}};
}

/// The executor tries the objects that it could not undo again.
bool has_freed_host(const wire::PlanSummary& plan) {
    return plan.purpose == model::PlanPurpose::release && plan.state == PlanState::failed &&
           model::frees_host(plan.state, plan.stays);
}

Result<wire::PlanSummary> outcome_of(const wire::PlanSummary& plan) {
    const bool is_good = plan.state == PlanState::done || plan.state == PlanState::undone;
    if (is_good || has_freed_host(plan)) return plan;
    if (plan.state == PlanState::cancelled) {
        return fail(Code::cancelled, fmt::format("plan {} was cancelled", plan.plan_id));
    }
    return fail(Code::unavailable,
                fmt::format("plan {}: {}", plan.plan_id,
                            plan.error.empty() ? name_of(plan.state) : plan.error));
}

}  // namespace

model::PlanView view_of(const model::Plan& plan) {
    model::PlanView view{.id = plan.id,
                         .purpose = plan.purpose,
                         .hash = hash_of(plan),
                         .state = PlanState::proposed,
                         .error = "",
                         .stays = {},
                         .steps = {}};
    for (const model::Step& step : plan.steps) {
        view.steps.push_back({.type = std::string(type_of(step)),
                              .target = target_of(step),
                              .text = text_of(step),
                              .effects = effects_of(step),
                              .state = model::StepState::pending,
                              .error = "",
                              .progress = ""});
    }
    return view;
}

void apply_event(model::PlanView& view, const wire::StepEvent& event) {
    if (event.index >= kMaxSteps) return;
    if (event.index >= view.steps.size()) {
        view.steps.resize(event.index + 1, {.type = "",
                                            .target = "",
                                            .text = "",
                                            .effects = {},
                                            .state = model::StepState::pending,
                                            .error = "",
                                            .progress = ""});
    }
    model::StepView& step = view.steps[event.index];
    step.state = event.state;
    step.error = event.error;
    step.progress = event.progress;
    if (!event.text.empty()) step.text = event.text;
}

void PlanRun::start() {
    std::visit(overloaded{[&](Apply& order) { apply(std::move(order)); },
                          [&](const Undo& order) { undo(order); },
                          [&](const Repair& order) { repair(order); },
                          [&](const Follow& order) { follow(order.id); }},
               order_);
}

void PlanRun::apply(Apply order) {
    context().state.change([&](AgentState& state) { state.plan = view_of(order.plan); });
    submit(wire::Apply{std::move(order.plan), std::move(order.digests), /*replace=*/false,
                       order.on_behalf_of},
           std::move(order.contents));
}

void PlanRun::undo(const Undo& order) {
    const std::string id = new_id("undo", context().random);
    propose(id, model::PlanPurpose::release);
    submit(wire::Undo{id, order.owner, order.on_behalf_of}, {});
}

void PlanRun::repair(const Repair& order) {
    const std::string id = new_id("repair", context().random);
    propose(id, model::PlanPurpose::repair);
    submit(wire::Repair{id, order.owner, order.on_behalf_of}, {});
}

void PlanRun::propose(const std::string& id, model::PlanPurpose purpose) {
    context().state.change(
        [&](AgentState& state) { state.plan = new_view(id, purpose, PlanState::proposed); });
}

void PlanRun::submit(wire::Request request, std::vector<Fd> contents) {
    context().executor.ask(std::move(request), std::move(contents),
                           lifetime().guard([this](const Result<wire::Reply>& reply) {
                               if (!reply) return on_refused(reply.error());
                               crash_point("plan.accepted");
                               if (const auto* accepted = std::get_if<wire::Accepted>(&*reply)) {
                                   follow(accepted->plan_id);
                               }
                           }));
}

/// After a lost connection the executor may have the plan: the next observation finds it.
void PlanRun::on_refused(const Error& error) {
    note_refusal(context(), error);
    if (error.code != Code::unavailable) {
        context().state.change([&](AgentState& state) {
            if (!state.plan) return;
            state.plan->state = PlanState::refused;
            state.plan->error = error.what;
        });
    }
    finish(std::unexpected(error));
}

void PlanRun::follow(const std::string& id) {
    context().state.change([&](AgentState& state) {
        if (!state.plan || state.plan->id != id) {
            state.plan = new_view(id, model::PlanPurpose::prepare, PlanState::running);
        }
        state.plan->state = PlanState::running;
    });
    context().executor.ask(wire::Follow{id}, {},
                           lifetime().guard([this](const Result<wire::Reply>& reply) {
                               if (reply) return on_report(*reply);
                               note_refusal(context(), reply.error());
                               finish(std::unexpected(reply.error()));
                           }));
}

void PlanRun::on_report(const wire::Reply& reply) {
    if (const auto* event = std::get_if<wire::StepEvent>(&reply)) {
        context().state.change([&](AgentState& state) {
            if (state.plan) apply_event(*state.plan, *event);
        });
    }
    if (const auto* summary = std::get_if<wire::PlanSummary>(&reply)) on_end(*summary);
}

void PlanRun::on_end(const wire::PlanSummary& summary) {
    crash_point("plan.ended");
    context().state.change([&](AgentState& state) {
        if (!state.plan) return;
        state.plan->purpose = summary.purpose;
        state.plan->hash = summary.hash;
        state.plan->state = summary.state;
        state.plan->error = summary.error;
        state.plan->stays = summary.stays;
    });
    finish(outcome_of(summary));
}

}  // namespace kubexm::agent
