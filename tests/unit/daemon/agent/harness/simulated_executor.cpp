#include "simulated_executor.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>

#include "daemon/base/io.hpp"
#include "daemon/base/overloaded.hpp"

namespace kubexm::agent {

using model::PlanPurpose;
using model::PlanState;

namespace {

constexpr std::uint32_t kObjects = 45;

wire::Outcome outcome_of(const model::Plan& plan, PlanState state) {
    wire::Outcome outcome;
    outcome.purpose = plan.purpose;
    outcome.plan_id = plan.id;
    outcome.wanted = plan.wanted;
    outcome.uid = SimulatedExecutor::kAgentUid;
    outcome.state = state;
    return outcome;
}

}  // namespace

void SimulatedExecutor::ask(wire::Request request, std::vector<Fd>, Handler handler) {
    loop_.post([this, request = std::move(request), handler = std::move(handler)]() mutable {
        if (connected) return answer(request, std::move(handler));
        waiting_.emplace_back(std::move(request), std::move(handler));
    });
}

void SimulatedExecutor::note_asker(const wire::Request& request) {
    std::visit(
        [&]<typename T>(const T& each) {
            if constexpr (requires { each.on_behalf_of; }) {
                const auto& asker = each.on_behalf_of;
                askers.push_back(asker ? fmt::format("{} for user {}, {}", T::kType, asker->uid,
                                                     name_of(asker->origin))
                                       : fmt::format("{} for nobody", T::kType));
            }
        },
        request);
}

wire::Observation SimulatedExecutor::observe() const {
    wire::Observation observation{
        {{"kubelet.service", kubelet, "enabled"}}, owners_, running_.id, unconfirmed_, permits_};
    for (wire::ObservedOwner& owner : observation.owners) owner.pending = pending;
    return observation;
}

void SimulatedExecutor::answer_observations() {
    holds_observations = false;
    auto held = std::exchange(observations_, {});
    for (auto& [observation, handler] : held | std::views::reverse) {
        handler(std::move(observation));
    }
}

void SimulatedExecutor::answer(const wire::Request& request, Handler handler) {
    const bool fails = fail_in == 1;
    fail_in = std::max(0, fail_in - 1);
    if (fails) return handler(fail(Code::exhausted, "too many requests; retry later"));
    note_asker(request);
    if (std::holds_alternative<wire::Observe>(request)) {
        if (!holds_observations) return handler(observe());
        observations_.emplace_back(observe(), std::move(handler));
        return;
    }
    if (std::holds_alternative<wire::Preflight>(request)) {
        return handler(wire::PreflightResult{findings, ignored});
    }
    if (const auto* apply = std::get_if<wire::Apply>(&request)) {
        if (!refuses_apply_with.empty()) return handler(fail(refuses_apply_as, refuses_apply_with));
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
        if (!refuses_repair_with.empty()) return handler(fail(Code::denied, refuses_repair_with));
        return begin({.id = repair->plan_id,
                      .owner = repair->owner,
                      .steps = {},
                      .purpose = PlanPurpose::repair},
                     std::move(handler));
    }
    if (std::holds_alternative<wire::Subscribe>(request)) {
        ++subscriptions;
        subscriber_ = std::move(handler);
        subscriber_(wire::Drift{drift_});
        if (!bootstrap_.empty()) send_bootstrap();
        if (ends_subscriptions) end_subscription();
        return;
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
    // How an undo ended is known until the next one has ended.
    const bool is_again = plan.purpose == PlanPurpose::release && is_left(plan.owner);
    if (!is_again) set_outcome(plan.owner, outcome_of(plan, PlanState::running));
    handler(wire::Accepted{plan.id});
    if (holds_plans) return;
    loop_.post([this] { end_plan_as_expected(); });
}

/// Whether the newest plan of an owner is an undo that has ended.
bool SimulatedExecutor::is_left(const std::string& owner) {
    const auto& outcomes = owner_named(owner).outcomes;
    return !outcomes.empty() && outcomes.front().purpose == PlanPurpose::release &&
           outcomes.front().state != PlanState::running;
}

void SimulatedExecutor::end_plan_as_expected() {
    if (!fails_with.empty()) return end_plan(PlanState::failed, fails_with);
    if (running_.purpose != PlanPurpose::release) return end_plan(PlanState::done);
    if (leftovers.empty()) return end_plan(PlanState::undone);
    end_plan(PlanState::failed, leftovers.front().why);
}

void SimulatedExecutor::end_plan(PlanState state, const std::string& error) {
    if (running_.id.empty()) return;
    const model::Plan plan = std::exchange(running_, {});
    wire::ObservedOwner& owner = owner_named(plan.owner);
    wire::Outcome outcome = outcome_of(plan, state);
    outcome.error = error;
    if (state == PlanState::done || state == PlanState::failed) owner.objects = kObjects;
    if (state == PlanState::undone) {
        owner.objects = 0;
        outcome.stays = stays;
    }
    const bool is_undo = plan.purpose == PlanPurpose::release;
    if (is_undo && state != PlanState::undone && !leftovers.empty()) {
        owner.objects = static_cast<std::uint32_t>(leftovers.size());
        outcome.stays = stays;
        outcome.stays.insert(outcome.stays.end(), leftovers.begin(), leftovers.end());
    }
    set_outcome(plan.owner, outcome);
    // A repair writes the same bytes again.
    if (state == PlanState::done && plan.purpose != PlanPurpose::repair) pending.clear();
    if (state == PlanState::done) on_done(plan);
    report_end(plan.id);
    if (plan.purpose == PlanPurpose::repair && state == PlanState::done) compare_host();
}

void SimulatedExecutor::compare_host() {
    if (until_drift.count() == 0) return set_drift({});
    auto timer = loop_.after(until_drift, [this] { set_drift({}); });
    ASSERT_TRUE(timer);
    comparison_ = *std::move(timer);
}

void SimulatedExecutor::report_end(const std::string& plan) {
    auto follows = std::move(follows_);
    follows_.clear();
    for (Open& open : follows) open.handler(summary_of(plan));
    if (subscriber_) subscriber_(summary_of(plan));
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
    outcome.plan_id = fmt::format("undo-by-root-{}", ++undos_by_root_);
    outcome.state = PlanState::undone;
    set_outcome(owner, outcome);
    report_end(outcome.plan_id);
}

void SimulatedExecutor::apply_as_root(const std::string& owner) {
    wire::Outcome outcome;
    outcome.plan_id = "plan-of-" + owner;
    outcome.state = PlanState::done;
    set_outcome(owner, outcome);
    owner_named(owner).objects = 1;
}

void SimulatedExecutor::undo_again(const std::string& owner) {
    begin({.id = "undo-again", .owner = owner, .steps = {}, .purpose = PlanPurpose::release},
          [](const Result<wire::Reply>&) {});
    if (subscriber_) subscriber_(summary_of("undo-again"));
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

void SimulatedExecutor::end_subscription() {
    Handler ended = std::exchange(subscriber_, {});
    ASSERT_TRUE(ended);
    ended(fail(Code::exhausted, "reply: expected at most 1 byte, found 2; request less"));
}

void SimulatedExecutor::set_drift(std::vector<wire::DriftedObject> objects) {
    drift_ = std::move(objects);
    if (subscriber_) subscriber_(wire::Drift{drift_});
}

void SimulatedExecutor::change_permits(model::Permits permits) {
    permits_ = permits;
    if (subscriber_) subscriber_(wire::PermitsChanged{permits});
}

void SimulatedExecutor::change_units(std::vector<wire::ObservedUnit> units) {
    if (subscriber_) subscriber_(wire::UnitsChanged{std::move(units)});
}

void SimulatedExecutor::pass_bootstrap(const std::string& kubeconfig) {
    bootstrap_ = kubeconfig;
    if (subscriber_) send_bootstrap();
}

void SimulatedExecutor::send_bootstrap() {
    auto content = memory_file(bootstrap_);
    ASSERT_TRUE(content);
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
    std::erase_if(entry.outcomes, [&](const wire::Outcome& each) {
        const bool is_kept = each.state == PlanState::done && outcome.state != PlanState::done;
        return each.purpose == outcome.purpose && !is_kept;
    });
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
