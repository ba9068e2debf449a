#include "daemon/agent/plan_run.hpp"

#include <fmt/format.h>

#include <random>

#include "daemon/base/crash_point.hpp"

namespace kubexm::agent {

namespace {

constexpr std::size_t kMaxSteps = 1000;  // an undo has as many as the ledger has entries

Result<> outcome_of(const wire::PlanSummary& plan) {
    if (plan.state == "done" || plan.state == "undone") return {};
    if (plan.state == "cancelled") {
        return fail(Code::cancelled, fmt::format("plan {} was cancelled", plan.plan_id));
    }
    return fail(Code::unavailable, fmt::format("plan {}: {}", plan.plan_id,
                                               plan.error.empty() ? plan.state : plan.error));
}

}  // namespace

std::string new_plan_id(std::string_view prefix) {
    std::random_device random;
    return fmt::format("{}-{:08x}{:08x}", prefix, random(), random());
}

model::PlanView view_of(const model::Plan& plan) {
    model::PlanView view{
        .id = plan.id, .hash = hash_of(plan), .state = "proposed", .error = "", .steps = {}};
    for (const model::Step& step : plan.steps) {
        view.steps.push_back({.type = std::string(type_of(step)),
                              .target = target_of(step),
                              .text = text_of(step),
                              .effects = effects_of(step),
                              .state = "pending",
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
                                            .state = "pending",
                                            .error = "",
                                            .progress = ""});
    }
    model::StepView& step = view.steps[event.index];
    step.state = event.state;
    step.error = event.error;
    step.progress = event.progress;
    if (!event.text.empty()) step.text = event.text;
}

PlanRun::PlanRun(AgentContext& context, Done done) : context_(context), done_(std::move(done)) {}

void PlanRun::apply(const model::Plan& plan, std::vector<std::string> digests,
                    std::vector<Fd> contents) {
    context_.status.change([&](model::Snapshot& now) { now.plan = view_of(plan); });
    submit(wire::Apply{plan, std::move(digests), /*replace=*/false}, std::move(contents));
}

void PlanRun::undo(const std::string& owner) {
    const std::string id = new_plan_id("undo");
    context_.status.change([&](model::Snapshot& now) {
        now.plan =
            model::PlanView{.id = id, .hash = "", .state = "proposed", .error = "", .steps = {}};
    });
    submit(wire::Undo{id, owner}, {});
}

void PlanRun::submit(wire::Request request, std::vector<Fd> contents) {
    context_.executor.ask(std::move(request), std::move(contents),
                          lifetime_.guard([this](const Result<wire::Reply>& reply) {
                              if (!reply) return on_refused(reply.error());
                              crash_point("plan.accepted");
                              if (const auto* accepted = std::get_if<wire::Accepted>(&*reply)) {
                                  follow(accepted->plan_id);
                              }
                          }));
}

/// After a lost connection the executor may have the plan: the next observation finds it.
void PlanRun::on_refused(const Error& error) {
    if (error.code != Code::unavailable) {
        context_.status.change([&](model::Snapshot& now) {
            if (!now.plan) return;
            now.plan->state = "refused";
            now.plan->error = error.what;
        });
    }
    finish(std::unexpected(error));
}

void PlanRun::follow(const std::string& id) {
    context_.status.change([&](model::Snapshot& now) {
        if (!now.plan || now.plan->id != id) {
            now.plan = model::PlanView{.id = id, .hash = "", .state = "", .error = "", .steps = {}};
        }
        now.plan->state = "running";
    });
    context_.reports.ask(wire::Follow{id}, {},
                         lifetime_.guard([this](const Result<wire::Reply>& reply) {
                             if (!reply) return finish(std::unexpected(reply.error()));
                             on_report(*reply);
                         }));
}

void PlanRun::on_report(const wire::Reply& reply) {
    if (const auto* event = std::get_if<wire::StepEvent>(&reply)) {
        context_.status.change([&](model::Snapshot& now) {
            if (now.plan) apply_event(*now.plan, *event);
        });
    }
    if (const auto* summary = std::get_if<wire::PlanSummary>(&reply)) {
        crash_point("plan.ended");
        context_.status.change([&](model::Snapshot& now) {
            if (!now.plan) return;
            now.plan->hash = summary->hash;
            now.plan->state = summary->state;
            now.plan->error = summary->error;
        });
        finish(outcome_of(*summary));
    }
}

void PlanRun::finish(Result<> outcome) {
    lifetime_.finish(context_.loop, done_, std::move(outcome));
}

}  // namespace kubexm::agent
