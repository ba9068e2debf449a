#include "daemon/agent/snapshot.hpp"

#include <algorithm>

#include "daemon/agent/conditions.hpp"
#include "daemon/agent/state.hpp"

namespace kubexm::agent {

namespace {

using model::Phase;

/// Whether a retry alone cannot succeed.
bool needs_action(Code code) {
    return code == Code::invalid || code == Code::denied || code == Code::conflict ||
           code == Code::corrupt;
}

Phase phase_without_decision(const AgentState& state) {
    const ManagementState& management = state.management;
    return management.configured || management.certificate ? Phase::enrolling : Phase::unconfigured;
}

/// Also in an earlier process.
bool became_ready(const AgentState& state, const std::string& owner) {
    const auto& joined = state.memory.joined;
    return (state.node && state.node->owner == owner && state.node->became_ready) ||
           (joined && joined->owner == owner && joined->became_ready);
}

/// A node whose settings change stays joined; a new one is joining.
Phase phase_of_join(const AgentState& state, const Decision& decision) {
    const bool is_joined =
        state.executor.observed && state.executor.observed->is_joined(decision.owner);
    if (state.failure && needs_action(state.failure->error.code)) return Phase::failed;
    return is_joined ? Phase::joined : Phase::joining;
}

Phase phase_of(const AgentState& state) {
    if (!state.decision) return phase_without_decision(state);
    const Decision& decision = *state.decision;
    switch (decision.action) {
        case Action::ignore:
        case Action::pause:
            return Phase::paused;
        case Action::wait:
            return decision.owner.empty() ? Phase::waiting : Phase::joining;
        case Action::refuse:
            return Phase::failed;
        case Action::hold:
            return Phase::held;
        case Action::join:
        case Action::adopt:
            return phase_of_join(state, decision);
        case Action::maintain:
        case Action::repair:
            return became_ready(state, decision.owner) ? Phase::joined : Phase::joining;
        case Action::release:
            return state.failure && needs_action(state.failure->error.code) ? Phase::failed
                                                                            : Phase::releasing;
    }
    return Phase::failed;
}

std::string server_of(const AgentState& state, const std::string& owner) {
    if (state.node && state.node->owner == owner) return state.node->server;
    if (state.settings) return state.settings->server;
    const auto& joined = state.memory.joined;
    return joined && joined->owner == owner ? joined->wanted.server : "";
}

/// The orders; without the management cluster those that led to the node on this host.
std::optional<model::AssignmentView> assignment_of(const AgentState& state) {
    const auto view = [&](const model::Reference& machine, const std::string& cluster,
                          const std::string& version) {
        return model::AssignmentView{.cluster = cluster,
                                     .machine = machine.namespace_ + "/" + machine.name,
                                     .uid = machine.uid,
                                     .server = server_of(state, owner_of(machine)),
                                     .version = version};
    };
    if (state.host) {
        if (!state.host->machine) return std::nullopt;
        return view(*state.host->machine, state.host->cluster, state.host->version);
    }
    const auto& joined = state.memory.joined;
    const bool is_present =
        joined && state.executor.observed && state.executor.observed->has(joined->owner);
    if (!is_present) return std::nullopt;
    return view(joined->machine, joined->cluster, joined->version);
}

std::vector<model::CertificateView> certificates_of(const AgentState& state) {
    std::vector<model::CertificateView> all;
    if (state.management.certificate) all.push_back(*state.management.certificate);
    if (state.node && state.node->certificate) all.push_back(*state.node->certificate);
    return all;
}

std::optional<model::PauseView> pause_of(const AgentState& state) {
    const auto& pause = state.memory.pause;
    if (!pause || !state.decision || state.decision->action != Action::pause) return std::nullopt;
    const auto time = [](std::int64_t seconds) {
        return rfc3339(std::chrono::sys_seconds(std::chrono::seconds(seconds)));
    };
    return model::PauseView{.since = time(pause->since),
                            .until = pause->until == 0 ? "" : time(pause->until),
                            .uid = pause->uid};
}

}  // namespace

model::Snapshot snapshot_of(const AgentState& state, const model::Snapshot& previous,
                            const std::string& now) {
    model::Snapshot snapshot{.host = state.facts,
                             .phase = phase_of(state),
                             .pause = pause_of(state),
                             .assignment = assignment_of(state),
                             .conditions = {},
                             .preflight = state.preflight,
                             .plan = state.plan,
                             .certificates = certificates_of(state),
                             .units = state.executor.units,
                             .version = state.version};
    const Conditions conditions = conditions_of(state);
    for (const auto* list : {&conditions.on_host, &conditions.local}) {
        for (const model::Condition& condition : *list) {
            const auto before =
                std::ranges::find(previous.conditions, condition.type, &model::Condition::type);
            const bool stays =
                before != previous.conditions.end() && before->status == condition.status;
            put(snapshot.conditions, condition, stays ? before->since : now);
        }
    }
    return snapshot;
}

}  // namespace kubexm::agent
