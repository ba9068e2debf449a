#pragma once

#include <functional>
#include <string>
#include <vector>

#include "daemon/agent/context.hpp"
#include "daemon/agent/lifetime_guard.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/model/plan.hpp"

namespace kubexm::agent {

/// Runs one plan in the executor and shows its progress in the Snapshot.
class PlanRun {
public:
    /// Success where the plan is done or undone.
    using Done = std::move_only_function<void(Result<>)>;

    PlanRun(AgentContext& context, Done done);

    /// `contents` are descriptors of the bytes that `digests` name.
    void apply(const model::Plan& plan, std::vector<std::string> digests, std::vector<Fd> contents);
    void undo(const std::string& owner);
    /// Follows a plan that runs already.
    void follow(const std::string& id);

private:
    void submit(wire::Request request, std::vector<Fd> contents);
    void on_refused(const Error& error);
    void on_report(const wire::Reply& reply);
    void finish(Result<> outcome);

    AgentContext& context_;
    Done done_;
    LifetimeGuard lifetime_;
};

/// A plan that has not started. Pure.
model::PlanView view_of(const model::Plan& plan);

/// Updates a step; an undo's steps are added as their events arrive. Pure.
void apply_event(model::PlanView& view, const wire::StepEvent& event);

/// "join-" and 16 random digits.
std::string new_plan_id(std::string_view prefix);

}  // namespace kubexm::agent
