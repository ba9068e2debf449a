#pragma once

#include <string>
#include <variant>
#include <vector>

#include "daemon/agent/activity.hpp"
#include "daemon/agent/on_behalf_of.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/model/plan.hpp"

namespace kubexm::agent {

/// Runs one plan in the executor and shows its progress. Its outcome is the plan's summary where
/// the plan is done or undone, or has left only objects that harm no next join; else an error.
class PlanRun : public Activity<wire::PlanSummary> {
public:
    /// `contents` are descriptors of the bytes that `digests` name.
    struct Apply {
        model::Plan plan;
        std::vector<std::string> digests;
        std::vector<Fd> contents;
        std::optional<model::OnBehalfOf> on_behalf_of;
    };
    struct Undo {
        std::string owner;
        std::optional<model::OnBehalfOf> on_behalf_of;
    };
    /// Applies drifted objects again, from the ledger.
    struct Repair {
        std::string owner;
        std::optional<model::OnBehalfOf> on_behalf_of;
    };
    /// A plan that runs already, or has ended.
    struct Follow {
        std::string id;
    };
    using Order = std::variant<Apply, Undo, Repair, Follow>;

    PlanRun(AgentContext& context, Order order, Done done)
        : Activity(context, std::move(done)), order_(std::move(order)) {}
    void start() override;

private:
    void apply(Apply order);
    void undo(const Undo& order);
    void repair(const Repair& order);
    void propose(const std::string& id, model::PlanPurpose purpose);
    void follow(const std::string& id);
    void submit(wire::Request request, std::vector<Fd> contents);
    void on_refused(const Error& error);
    void on_report(const wire::Reply& reply);
    void on_end(const wire::PlanSummary& summary);

    Order order_;
};

/// A plan that has not started. Pure.
model::PlanView view_of(const model::Plan& plan);

/// Updates a step; an undo's steps are added as their events arrive. Pure.
void apply_event(model::PlanView& view, const wire::StepEvent& event);

}  // namespace kubexm::agent
