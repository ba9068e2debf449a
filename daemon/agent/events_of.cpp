#include "daemon/agent/events_of.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "daemon/agent/conditions.hpp"
#include "daemon/agent/known_node.hpp"
#include "daemon/agent/orders.hpp"
#include "daemon/agent/state.hpp"
#include "daemon/base/text.hpp"

namespace kubexm::agent {

namespace {

using kube::EventType;
using kube::HostEvent;
using News = std::optional<HostEvent>;

constexpr std::size_t kMostNamed = 5;
constexpr std::size_t kMaxNamed = 150;  // bytes of one of them: an Event has room for 1024

HostEvent normal(std::string_view reason, std::string message) {
    return {EventType::normal, std::string(reason), std::move(message)};
}

HostEvent warning(std::string_view reason, std::string message) {
    return {EventType::warning, std::string(reason), std::move(message)};
}

/// Whether the ByoHost has a condition with this reason, perhaps from before a restart. Its message
/// may change with every version of the ByoHost.
bool is_reported(const AgentState& state, std::string_view reason) {
    return state.host &&
           std::ranges::any_of(state.host->conditions, [&](const model::Condition& each) {
               return each.status != model::ConditionStatus::yes && each.reason == reason;
           });
}

/// "a, b and 3 more objects"
std::string enumerated(const std::vector<std::string>& objects) {
    std::string text;
    for (const std::string& each : objects | std::views::take(kMostNamed)) {
        text += (text.empty() ? "" : ", ") + bounded_utf8(each, kMaxNamed);
    }
    if (objects.size() <= kMostNamed) return text;
    return fmt::format("{} and {} more objects", text, objects.size() - kMostNamed);
}

/// The next try has a plan with another id; its failure must be the same Event.
std::string without_plan_id(const std::string& what, const std::optional<model::PlanView>& plan) {
    const std::string prefix = plan ? fmt::format("plan {}: ", plan->id) : "";
    return what.starts_with(prefix) ? what.substr(prefix.size()) : what;
}

bool has_been_ready(const AgentState& state) {
    return state.memory.joined && state.memory.joined->became_ready;
}

// --- join and release

News tell_certificate(const AgentState& before, const AgentState& after) {
    if (before.requests == after.requests) return std::nullopt;
    for (const model::Condition& each : conditions_of(after).on_host) {
        if (each.type != kCertificateIssued || each.status == model::ConditionStatus::yes) continue;
        if (!is_reported(after, each.reason)) return normal("CertificateWaiting", each.message);
    }
    return std::nullopt;
}

News tell_join(const AgentState& before, const AgentState& after) {
    const auto& joined = after.memory.joined;
    if (has_been_ready(before) || !joined || !joined->became_ready) return std::nullopt;
    return normal("BootstrapK8sNodeSucceeded",
                  fmt::format("Node {} of machine {}/{} became Ready", after.facts.name,
                              joined->machine.namespace_, joined->machine.name));
}

/// The memory of a join ends when the ByoHost is freed.
News tell_release(const AgentState& before, const AgentState& after) {
    const bool ended = before.memory.joined && !after.memory.joined;
    if (!ended || !after.released || after.released->message.empty()) return std::nullopt;
    return normal("ResetK8sNodeSucceeded", after.released->message);
}

News tell_failure(const AgentState& before, const AgentState& after) {
    if (before.failure || !after.failure || !after.decision) return std::nullopt;
    const Error& error = after.failure->error;
    const std::string message = without_plan_id(error.what, after.plan);
    if (after.decision->action == Action::release) {
        // The node was reset, but the ByoHost is not freed yet.
        if (before.released) return std::nullopt;
        return warning("ResetK8sNodeFailed", message);
    }
    if (after.settings_problem == error) return warning("ReadBootstrapSecretFailed", message);
    const auto& observed = after.executor.observed;
    const bool is_node = after.decision->action == Action::adopt ||
                         (observed && observed->is_joined(after.decision->owner));
    return warning(is_node ? "AssignmentFailed" : "BootstrapK8sNodeFailed", message);
}

/// The decision is to change nothing because the orders do not fit.
News tell_conflict(const AgentState& before, const AgentState& after) {
    if (!after.decision) return std::nullopt;
    const Decision& decision = *after.decision;
    if (decision.action != Action::hold && decision.action != Action::refuse) return std::nullopt;
    const bool is_known = before.decision && before.decision->reason == decision.reason;
    if (is_known || is_reported(after, decision.reason)) return std::nullopt;
    return warning(decision.reason, decision.message);
}

// --- a joined node

/// A join that needs the settings fails, and tells it.
News tell_settings(const AgentState& before, const AgentState& after) {
    const auto& problem = after.settings_problem;
    if (!problem || problem->code != Code::invalid) return std::nullopt;
    if (problem == before.settings_problem || !after.decision) return std::nullopt;
    const Action action = after.decision->action;
    if (action != Action::maintain) return std::nullopt;
    const bool is_first = !before.settings_problem;
    if (is_first && is_reported(after, kSettingsInvalid)) return std::nullopt;
    return warning("ReadBootstrapSecretFailed", problem->what);
}

/// The first report after a start may repeat drift that the process before has reported.
News tell_drift(const AgentState& before, const AgentState& after) {
    if (!after.decision) return std::nullopt;
    const bool is_first = !before.executor.drift_known || !before.decision;
    if (is_first && is_reported(after, kDrifted)) return std::nullopt;
    const auto known = is_first ? std::vector<wire::DriftedObject>() : before.executor.drift;
    std::vector<std::string> found;
    bool are_repaired = false;
    for (const wire::DriftedObject& each : after.executor.drift) {
        const Decision& decision = *after.decision;
        if (each.owner != decision.owner && each.owner != decision.from) continue;
        if (std::ranges::find(known, each) != known.end()) continue;
        found.push_back(fmt::format("{}: {}", each.object, each.found));
        are_repaired = are_repaired || is_repaired(after, each.owner);
    }
    if (found.empty()) return std::nullopt;
    return warning("HostDrifted",
                   enumerated(found) + (are_repaired ? "; kubexmctl pause stops repairs"
                                                     : "; not repaired at present"));
}

/// The objects of the last repair.
std::vector<std::string> repaired_objects(const std::map<std::string, RepairState>& repairs) {
    std::chrono::sys_seconds last;
    for (const auto& [object, state] : repairs) last = std::max(last, state.last);
    std::vector<std::string> objects;
    for (const auto& [object, state] : repairs) {
        if (state.last == last) objects.push_back(object);
    }
    return objects;
}

News tell_repair(const AgentState& before, const AgentState& after) {
    if (!after.plan || after.plan->purpose != model::PlanPurpose::repair) return std::nullopt;
    const bool is_known =
        before.plan && before.plan->id == after.plan->id && before.plan->state == after.plan->state;
    if (is_known) return std::nullopt;
    if (after.plan->state == model::PlanState::failed) {
        return warning("HostRepairFailed", after.plan->error);
    }
    if (after.plan->state != model::PlanState::done) return std::nullopt;
    const auto objects = repaired_objects(after.repairs);
    return normal("HostRepaired", objects.empty() ? "all drifted objects were applied again"
                                                  : "applied again: " + enumerated(objects));
}

News tell_node(const AgentState& before, const AgentState& after) {
    if (!before.node || !after.node || before.node->owner != after.node->owner) return std::nullopt;
    const bool was_ready = before.node->observed && !before.node->invalid;
    if (was_ready && after.node->invalid) return warning("NodeNotReady", after.node->invalid->what);
    const bool is_ready_again = before.node->invalid && !after.node->invalid;
    if (!is_ready_again || !has_been_ready(before)) return std::nullopt;
    return normal("NodeReady", fmt::format("Node {} is Ready again", after.facts.name));
}

// --- a person's word

News tell_pause(const AgentState& before, const AgentState& after) {
    const auto& pause = after.memory.pause;
    if (!pause || pause == before.memory.pause) return std::nullopt;
    return normal("HostPaused", pause_text(*pause));
}

/// A leave during a pause does not end the pause.
News tell_resume(const AgentState& before, const AgentState& after) {
    if (!before.decision || before.decision->action != Action::pause) return std::nullopt;
    if (!after.decision || after.decision->action == Action::pause) return std::nullopt;
    if (after.decision->action == Action::release && after.memory.leave) return std::nullopt;
    return normal("HostResumed", "orders are followed again");
}

}  // namespace

std::vector<HostEvent> events_of(const AgentState& before, const AgentState& after) {
    std::vector<HostEvent> events;
    for (const auto tell :
         {tell_certificate, tell_join, tell_release, tell_failure, tell_conflict, tell_settings,
          tell_drift, tell_repair, tell_node, tell_pause, tell_resume}) {
        if (auto event = tell(before, after)) events.push_back(*std::move(event));
    }
    return events;
}

}  // namespace kubexm::agent
