#include "daemon/agent/snapshot.hpp"

#include <algorithm>

#include "daemon/agent/conditions.hpp"
#include "daemon/agent/known_node.hpp"
#include "daemon/agent/orders.hpp"
#include "daemon/agent/state.hpp"

namespace kubexm::agent {

namespace {

using model::Phase;

/// Whether a retry alone cannot succeed.
bool needs_action(Code code) {
    return code == Code::invalid || code == Code::denied || code == Code::conflict ||
           code == Code::corrupt;
}

/// Before the decision, which follows from the memory and the executor's observation.
bool is_paused_by_person(const AgentState& state, std::chrono::sys_seconds now) {
    if (state.decision) return state.decision->action == Action::pause;
    return state.memory.pause && is_active(*state.memory.pause, now) && !is_leaving(state);
}

/// From the memory of an earlier process, until the executor or the management cluster has
/// answered.
Phase phase_without_decision(const AgentState& state, std::chrono::sys_seconds now) {
    if (is_leaving(state)) return Phase::releasing;
    if (is_paused_by_person(state, now)) return Phase::paused;
    if (const JoinedMachine* node = remembered_node(state)) {
        return node->became_ready ? Phase::joined : Phase::joining;
    }
    const ManagementState& management = state.management;
    return management.configured || management.certificate ? Phase::enrolling : Phase::unconfigured;
}

/// A node whose settings change stays joined; one that was never Ready is joining, also when its
/// plan is done.
Phase phase_of_join(const AgentState& state, const Decision& decision) {
    if (state.failure && needs_action(state.failure->error.code)) return Phase::failed;
    return became_ready(state, decision.owner) ? Phase::joined : Phase::joining;
}

/// `kubexmctl leave` was heard, and the next decision is the release.
bool is_about_to_leave(const AgentState& state, Action action) {
    const bool is_stopped = action == Action::pause || action == Action::hold;
    return is_stopped && state.memory.leave && !has_no_node(state);
}

Phase phase_of(const AgentState& state, std::chrono::sys_seconds now) {
    if (!state.decision) return phase_without_decision(state, now);
    const Decision& decision = *state.decision;
    if (is_about_to_leave(state, decision.action)) return Phase::releasing;
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
    const JoinedMachine* node = remembered_node(state);
    if (node == nullptr) return std::nullopt;
    return view(node->machine, node->cluster, node->version);
}

/// A renewal is under way, or failed: what happens next is no longer a matter of its time.
void add_problems(model::CertificateView& view, const AgentState& state) {
    using model::CertificateAction;
    const auto problem = state.renewals.find(view.name);
    const auto request = state.requests.find(view.name + " renewal");
    const auto publication = state.renewals.find(view.name + " of kubelet");
    if (request != state.requests.end()) {
        view.next = CertificateAction::approve;
        view.next_at.clear();
        view.next_reason = approval_text(request->second);
    } else if (problem != state.renewals.end()) {
        const auto& at = problem->second.next_try;
        view.next = CertificateAction::retry;
        view.next_at = at ? rfc3339(*at) : "";
        view.next_reason = problem->second.error.what;
    } else if (publication != state.renewals.end()) {
        view.next = CertificateAction::publish;
        view.next_at.clear();
        view.next_reason = publication->second.error.what;
    }
}

std::vector<model::CertificateView> certificates_of(const AgentState& state) {
    std::vector<model::CertificateView> all;
    if (state.management.certificate) all.push_back(*state.management.certificate);
    if (state.node && state.node->certificate) all.push_back(*state.node->certificate);
    for (model::CertificateView& each : all) add_problems(each, state);
    return all;
}

std::optional<model::PauseView> pause_of(const AgentState& state, std::chrono::sys_seconds now) {
    const auto& pause = state.memory.pause;
    if (!pause || !is_paused_by_person(state, now)) return std::nullopt;
    const auto time = [](std::int64_t seconds) {
        return rfc3339(std::chrono::sys_seconds(std::chrono::seconds(seconds)));
    };
    return model::PauseView{.since = time(pause->since),
                            .until = pause->until == 0 ? "" : time(pause->until),
                            .uid = pause->uid};
}

}  // namespace

model::Snapshot snapshot_of(const AgentState& state, const model::Snapshot& previous,
                            std::chrono::sys_seconds now) {
    model::Snapshot snapshot{.host = state.facts,
                             .phase = phase_of(state, now),
                             .pause = pause_of(state, now),
                             .assignment = assignment_of(state),
                             .conditions = {},
                             .preflight = state.preflight,
                             .plan = state.plan,
                             .certificates = certificates_of(state),
                             .units = state.executor.units,
                             .permits = state.executor.permits,
                             .version = state.version};
    const Conditions conditions = conditions_of(state);
    for (const auto* list : {&conditions.on_host, &conditions.local}) {
        for (const model::Condition& condition : *list) {
            const auto before =
                std::ranges::find(previous.conditions, condition.type, &model::Condition::type);
            const bool stays =
                before != previous.conditions.end() && before->status == condition.status;
            put(snapshot.conditions, condition, stays ? before->since : rfc3339(now));
        }
    }
    return snapshot;
}

}  // namespace kubexm::agent
