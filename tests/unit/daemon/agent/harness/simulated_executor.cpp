#include "simulated_executor.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "daemon/base/io.hpp"
#include "daemon/base/overloaded.hpp"

namespace kubexm::agent {

using model::PlanPurpose;
using model::PlanState;

namespace {

constexpr std::uint32_t kObjects = 45;

}  // namespace

void SimulatedExecutor::ask(wire::Request request, std::vector<Fd>, Handler handler) {
    loop_.post([this, request = std::move(request), handler = std::move(handler)]() mutable {
        if (connected) return answer(request, std::move(handler));
        waiting_.emplace_back(std::move(request), std::move(handler));
    });
}

void SimulatedExecutor::answer(const wire::Request& request, Handler handler) {
    if (std::holds_alternative<wire::Observe>(request)) {
        wire::Observation observation{
            {{"kubelet.service", kubelet, "enabled"}}, owners_, running_.id, unconfirmed_};
        for (wire::ObservedOwner& owner : observation.owners) owner.pending = pending;
        return handler(std::move(observation));
    }
    if (std::holds_alternative<wire::Preflight>(request)) {
        return handler(wire::PreflightResult{findings});
    }
    if (const auto* apply = std::get_if<wire::Apply>(&request)) {
        applied.push_back(apply->plan);
        return begin(apply->plan, std::move(handler));
    }
    if (const auto* undo = std::get_if<wire::Undo>(&request)) {
        undone.push_back(undo->owner);
        return begin({.id = undo->plan_id,
                      .owner = undo->owner,
                      .steps = {},
                      .purpose = PlanPurpose::release},
                     std::move(handler));
    }
    if (const auto* repair = std::get_if<wire::Repair>(&request)) {
        repaired.push_back(repair->owner);
        return begin({.id = repair->plan_id,
                      .owner = repair->owner,
                      .steps = {},
                      .purpose = PlanPurpose::repair},
                     std::move(handler));
    }
    if (std::holds_alternative<wire::Subscribe>(request)) {
        subscriber_ = std::move(handler);
        return subscriber_(wire::Drift{drift_});
    }
    if (const auto* follow = std::get_if<wire::Follow>(&request)) {
        if (running_.id != follow->plan_id) return handler(summary_of(follow->plan_id));
        follows_.push_back({follow->plan_id, std::move(handler)});
        return;
    }
    if (const auto* cancel = std::get_if<wire::Cancel>(&request)) {
        cancelled.push_back(cancel->plan_id);
        handler(wire::Accepted{cancel->plan_id});
        end_plan(PlanState::cancelled);
    }
}

void SimulatedExecutor::begin(const model::Plan& plan, Handler handler) {
    running_ = plan;
    wire::Outcome outcome;
    outcome.purpose = plan.purpose;
    outcome.plan_id = plan.id;
    outcome.wanted = plan.wanted;
    outcome.uid = kAgentUid;
    outcome.state = PlanState::running;
    set_outcome(plan.owner, outcome);
    handler(wire::Accepted{plan.id});
    if (holds_plans) return;
    loop_.post([this] {
        end_plan(fails_with.empty() ? (running_.purpose == PlanPurpose::release ? PlanState::undone
                                                                                : PlanState::done)
                                    : PlanState::failed,
                 fails_with);
    });
}

void SimulatedExecutor::end_plan(PlanState state, const std::string& error) {
    if (running_.id.empty()) return;
    const model::Plan plan = std::exchange(running_, {});
    wire::ObservedOwner& owner = owner_named(plan.owner);
    wire::Outcome outcome = owner.outcomes.front();
    outcome.state = state;
    outcome.error = error;
    if (state == PlanState::undone) {
        owner.objects = 0;
        outcome.stays = stays;
    }
    if (state == PlanState::done || state == PlanState::failed) owner.objects = kObjects;
    set_outcome(plan.owner, outcome);
    // A repair writes the same bytes again.
    if (state == PlanState::done && plan.purpose != PlanPurpose::repair) pending.clear();
    if (state == PlanState::done) on_done(plan);
    report_end(plan.id);
    if (plan.purpose == PlanPurpose::repair && state == PlanState::done) set_drift({});
}

void SimulatedExecutor::report_end(const std::string& plan) {
    auto follows = std::move(follows_);
    follows_.clear();
    for (Open& open : follows) open.handler(summary_of(plan));
}

wire::PlanSummary SimulatedExecutor::summary_of(const std::string& plan) const {
    wire::PlanSummary summary;
    summary.plan_id = plan;
    for (const wire::ObservedOwner& owner : owners_) {
        for (const wire::Outcome& outcome : owner.outcomes) {
            if (outcome.plan_id != plan) continue;
            summary.owner = owner.name;
            summary.purpose = outcome.purpose;
            summary.state = outcome.state;
            summary.error = outcome.error;
            summary.stays = outcome.stays;
        }
    }
    return summary;
}

void SimulatedExecutor::undo_as_root(const std::string& owner) {
    owner_named(owner).objects = 0;
    wire::Outcome outcome;
    outcome.purpose = PlanPurpose::release;
    outcome.plan_id = "undo-by-root";
    outcome.state = PlanState::undone;
    set_outcome(owner, outcome);
    if (subscriber_) subscriber_(summary_of("undo-by-root"));
}

void SimulatedExecutor::apply_as_root(const std::string& owner) {
    wire::Outcome outcome;
    outcome.plan_id = "plan-of-" + owner;
    outcome.state = PlanState::done;
    set_outcome(owner, outcome);
    owner_named(owner).objects = 1;
}

void SimulatedExecutor::add_node(const std::string& owner, const std::string& wanted) {
    wire::Outcome outcome;
    outcome.purpose = PlanPurpose::join;
    outcome.plan_id = "join-before";
    outcome.wanted = wanted;
    outcome.uid = kAgentUid;
    outcome.state = PlanState::done;
    set_outcome(owner, outcome);
    owner_named(owner).objects = kObjects;
}

void SimulatedExecutor::lose_connection() {
    connected = false;
    auto follows = std::move(follows_);
    follows_.clear();
    for (Open& open : follows) {
        open.handler(fail(Code::unavailable, "executor: connection lost"));
    }
}

void SimulatedExecutor::regain_connection() {
    connected = true;
    for (auto& [request, handler] : std::exchange(waiting_, {})) {
        answer(request, std::move(handler));
    }
}

void SimulatedExecutor::set_unconfirmed(std::vector<wire::AuthorityView> authorities) {
    unconfirmed_ = std::move(authorities);
    if (subscriber_) subscriber_(wire::TrustedAuthorities{});
}

void SimulatedExecutor::set_drift(std::vector<wire::DriftedObject> objects) {
    drift_ = std::move(objects);
    if (subscriber_) subscriber_(wire::Drift{drift_});
}

void SimulatedExecutor::pass_bootstrap(const std::string& kubeconfig) {
    auto content = memory_file(kubeconfig);
    ASSERT_TRUE(content);
    ASSERT_TRUE(subscriber_);
    subscriber_(wire::BootstrapKubeconfig{"", std::make_shared<const Fd>(*std::move(content))});
}

bool SimulatedExecutor::has(const std::string& owner) const {
    return std::ranges::any_of(owners_, [&](const wire::ObservedOwner& each) {
        return each.name == owner && each.objects > 0;
    });
}

/// The owner with the newest plan comes first, and so does its newest outcome.
void SimulatedExecutor::set_outcome(const std::string& owner, wire::Outcome outcome) {
    outcome.at = now();
    wire::ObservedOwner entry = owner_named(owner);
    std::erase_if(owners_, [&](const wire::ObservedOwner& each) { return each.name == owner; });
    std::erase_if(entry.outcomes,
                  [&](const wire::Outcome& each) { return each.purpose == outcome.purpose; });
    entry.outcomes.insert(entry.outcomes.begin(), std::move(outcome));
    owners_.insert(owners_.begin(), std::move(entry));
}

wire::ObservedOwner& SimulatedExecutor::owner_named(const std::string& name) {
    const auto found = std::ranges::find(owners_, name, &wire::ObservedOwner::name);
    if (found != owners_.end()) return *found;
    owners_.push_back({name, 0, {}, {}});
    return owners_.back();
}

}  // namespace kubexm::agent
