#include "daemon/agent/executor_state.hpp"

#include <algorithm>

#include "daemon/model/owner.hpp"

namespace kubexm::agent {

namespace {

const wire::ObservedOwner* find_owner(const std::vector<wire::ObservedOwner>& owners,
                                      const std::string& name) {
    const auto found = std::ranges::find(owners, name, &wire::ObservedOwner::name);
    return found == owners.end() ? nullptr : &*found;
}

/// An undo counts every object that it left, and lists those that block a join first.
bool is_released(const wire::ObservedOwner& owner) {
    if (owner.outcomes.empty()) return false;
    const wire::Outcome& last = owner.outcomes.front();
    return last.purpose == model::PlanPurpose::release &&
           model::frees_host(last.state, last.stays) &&
           owner.objects <= last.stays.size() + last.unnamed;
}

}  // namespace

bool ExecutorState::has(const std::string& owner) const {
    const wire::ObservedOwner* found = find_owner(owners, owner);
    return found != nullptr && found->objects > 0;
}

bool ExecutorState::is_joined(const std::string& owner) const {
    return has(owner) && applied_join(owner) != nullptr;
}

std::vector<wire::Outcome> ExecutorState::applied(const std::string& owner) const {
    const wire::ObservedOwner* found = find_owner(owners, owner);
    std::vector<wire::Outcome> done;
    if (found == nullptr) return done;
    for (const wire::Outcome& each : found->outcomes) {
        if (each.purpose == model::PlanPurpose::release) break;
        if (each.state == model::PlanState::done) done.push_back(each);
    }
    return done;
}

const wire::Outcome* ExecutorState::applied_join(const std::string& owner) const {
    const wire::ObservedOwner* found = find_owner(owners, owner);
    if (found == nullptr) return nullptr;
    for (const wire::Outcome& each : found->outcomes) {  // newest first
        if (each.purpose == model::PlanPurpose::release) return nullptr;
        const bool is_done = each.state == model::PlanState::done;
        if (each.purpose == model::PlanPurpose::join && is_done) return &each;
    }
    return nullptr;
}

const wire::Outcome* ExecutorState::newest(const std::string& owner) const {
    const wire::ObservedOwner* found = find_owner(owners, owner);
    return found == nullptr || found->outcomes.empty() ? nullptr : found->outcomes.data();
}

std::vector<std::string> ExecutorState::present_machines() const {
    std::vector<std::string> machines;
    for (const wire::ObservedOwner& owner : owners) {
        if (!model::is_machine_owner(owner.name) || is_released(owner)) continue;
        // A plan that was interrupted before its first step has no objects yet.
        const auto runs = [](const wire::Outcome& each) {
            return each.state == model::PlanState::running;
        };
        if (owner.objects > 0 || std::ranges::any_of(owner.outcomes, runs)) {
            machines.push_back(owner.name);
        }
    }
    return machines;
}

std::string ExecutorState::joined_machine() const {
    const auto machines = present_machines();
    const auto found =
        std::ranges::find_if(machines, [&](const std::string& each) { return is_joined(each); });
    return found == machines.end() ? "" : *found;
}

std::vector<model::Remaining> ExecutorState::leftovers(const std::string& owner) const {
    std::vector<model::Remaining> left;
    for (const wire::ObservedOwner& each : owners) {
        const bool counts = model::is_machine_owner(each.name) && each.name != owner;
        if (!counts || each.objects == 0 || !is_released(each)) continue;
        const auto& stays = each.outcomes.front().stays;
        left.insert(left.end(), stays.begin(), stays.end());
    }
    return left;
}

std::vector<std::string> ExecutorState::pending_renderings() const {
    std::vector<std::string> pending;
    for (const wire::ObservedOwner& owner : owners) {
        if (!model::is_machine_owner(owner.name) || is_released(owner)) continue;
        for (const std::string& object : owner.pending) {
            if (std::ranges::find(pending, object) == pending.end()) pending.push_back(object);
        }
    }
    return pending;
}

const wire::Outcome* ExecutorState::outcome_of(const std::string& plan_id) const {
    for (const wire::ObservedOwner& owner : owners) {
        const auto plan = std::ranges::find(owner.outcomes, plan_id, &wire::Outcome::plan_id);
        if (plan != owner.outcomes.end()) return &*plan;
    }
    return nullptr;
}

}  // namespace kubexm::agent
