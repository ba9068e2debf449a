#pragma once

#include <functional>
#include <string>
#include <vector>

#include "daemon/agent/context.hpp"
#include "daemon/agent/lifetime_guard.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/model/plan.hpp"

namespace kubexm::agent {

/// One plan in the executor, from the order to its end, shown on the status as it goes.
class PlanRun {
public:
    /// Where the plan came to the end that was meant; else why it did not.
    using Done = std::move_only_function<void(Result<>)>;

    PlanRun(AgentContext& context, Done done);

    /// The plan is shown before it is handed over.
    void apply(const model::Plan& plan, std::vector<std::string> digests, std::vector<Fd> contents);
    void undo(const std::string& owner);
    /// One that the executor carries out already.
    void follow(const std::string& id);

private:
    void hand_over(wire::Request request, std::vector<Fd> contents);
    void on_refused(const Error& error);
    void on_report(const wire::Reply& reply);
    void finish(Result<> outcome);

    AgentContext& context_;
    Done done_;
    LifetimeGuard lifetime_;
};

/// The plan as the Snapshot shows it before anything has happened. Pure.
model::PlanView view_of(const model::Plan& plan);

/// An event of a step in its place; steps of an undo become known as they happen. Pure.
void take(model::PlanView& view, const wire::StepEvent& event);

/// "join-6f1c…", new for ever.
std::string new_plan_id(std::string_view what);

}  // namespace kubexm::agent
