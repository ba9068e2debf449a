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

}  // namespace

bool ExecutorState::has(const std::string& owner) const {
    const wire::ObservedOwner* found = find_owner(owners, owner);
    return found != nullptr && found->objects > 0;
}

bool ExecutorState::is_joined(const std::string& owner) const {
    const wire::Outcome* join = outcome(owner, model::PlanPurpose::join);
    const wire::Outcome* undo = outcome(owner, model::PlanPurpose::release);
    const bool undone = undo != nullptr && undo < join;  // newest first
    return has(owner) && join != nullptr && join->state == model::PlanState::done && !undone;
}

const wire::Outcome* ExecutorState::newest(const std::string& owner) const {
    const wire::ObservedOwner* found = find_owner(owners, owner);
    return found == nullptr || found->outcomes.empty() ? nullptr : found->outcomes.data();
}

std::vector<std::string> ExecutorState::present_machines() const {
    std::vector<std::string> machines;
    for (const wire::ObservedOwner& owner : owners) {
        if (!model::is_machine_owner(owner.name)) continue;
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

bool ExecutorState::has_unreleased_machine() const {
    return std::ranges::any_of(present_machines(), [&](const std::string& machine) {
        const wire::Outcome* last = newest(machine);
        return last == nullptr || last->state != model::PlanState::undone;
    });
}

std::vector<std::string> ExecutorState::pending_renderings() const {
    std::vector<std::string> pending;
    for (const wire::ObservedOwner& owner : owners) {
        if (!model::is_machine_owner(owner.name)) continue;
        for (const std::string& object : owner.pending) {
            if (std::ranges::find(pending, object) == pending.end()) pending.push_back(object);
        }
    }
    return pending;
}

const wire::Outcome* ExecutorState::outcome(const std::string& owner,
                                            model::PlanPurpose purpose) const {
    const wire::ObservedOwner* found = find_owner(owners, owner);
    if (found == nullptr) return nullptr;
    const auto plan = std::ranges::find(found->outcomes, purpose, &wire::Outcome::purpose);
    return plan == found->outcomes.end() ? nullptr : &*plan;
}

const wire::Outcome* ExecutorState::outcome_of(const std::string& plan_id) const {
    for (const wire::ObservedOwner& owner : owners) {
        const auto plan = std::ranges::find(owner.outcomes, plan_id, &wire::Outcome::plan_id);
        if (plan != owner.outcomes.end()) return &*plan;
    }
    return nullptr;
}

}  // namespace kubexm::agent
