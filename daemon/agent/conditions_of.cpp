#include <fmt/format.h>

#include <algorithm>

#include "daemon/agent/conditions.hpp"
#include "daemon/agent/orders.hpp"
#include "daemon/agent/state.hpp"
#include "daemon/base/text.hpp"
#include "daemon/model/names.hpp"

namespace kubexm::agent {

namespace {

using model::Condition;

bool is_finished(const model::StepView& step) {
    return step.state == model::StepState::done || step.state == model::StepState::skipped;
}

/// "3 of 45 steps done; write /var/lib/kubelet/config.yaml"
std::string progress_of(const model::PlanView& plan) {
    const auto finished = std::ranges::count_if(plan.steps, is_finished);
    const auto next = std::ranges::find_if_not(plan.steps, is_finished);
    return fmt::format("plan {}: {} of {} steps done{}", plan.id, finished, plan.steps.size(),
                       next == plan.steps.end() ? "" : "; " + next->text);
}

std::string release_progress(const AgentState& state) {
    constexpr std::size_t kMostNamed = 5;
    const auto& pods = state.ending_pods;
    if (pods.empty()) return state.plan ? progress_of(*state.plan) : "";
    const auto named = std::min(pods.size(), kMostNamed);
    const auto end = pods.begin() + static_cast<std::ptrdiff_t>(named);
    return fmt::format("waiting for the end of {} pods: {}{}", pods.size(),
                       fmt::join(pods.begin(), end, ", "), named < pods.size() ? ", ..." : "");
}

bool is_joined(const AgentState& state) {
    return state.decision && state.executor.observed &&
           state.executor.observed->is_joined(state.decision->owner);
}

/// Also while a plan applies changed orders, and while the executor is observed after it.
bool is_bootstrapped(const AgentState& state) {
    const bool was_ready = state.node && state.decision &&
                           state.node->owner == state.decision->owner && state.node->became_ready;
    return was_ready || is_joined(state);
}

std::optional<Condition> executor_available(const AgentState& state) {
    const auto& connected = state.executor.connected;
    if (!connected) return std::nullopt;
    if (*connected) return is_true(kExecutorAvailable, "");
    return is_false(kExecutorAvailable, "Warning", "NoAnswer", connected->error().what);
}

std::optional<Condition> local_api_available(const AgentState& state) {
    if (!state.local_api) return std::nullopt;
    if (*state.local_api) return is_true(kLocalApiAvailable, "");
    return is_false(kLocalApiAvailable, "Warning", "ListenerFailed", state.local_api->error().what);
}

std::optional<Condition> management_reachable(const AgentState& state) {
    const ManagementState& management = state.management;
    if (management.reachable) return is_true(kManagementClusterReachable, management.server);
    if (!management.problem) return std::nullopt;
    return is_false(kManagementClusterReachable, "Warning",
                    management.configured ? "NoAnswer" : "NotConfigured", management.problem->what);
}

/// Only of one that this host would follow to another cluster, and cannot.
std::optional<Condition> bootstrap_usable(const AgentState& state) {
    if (!state.management.bootstrap_problem) return std::nullopt;
    return is_false(kBootstrapKubeconfigUsable, "Warning", "NotUsable",
                    fmt::format("the host stays at {}: {}", state.management.server,
                                state.management.bootstrap_problem->what));
}

std::optional<Condition> host_name_unchanged(const AgentState& state) {
    if (state.present_name.empty()) return std::nullopt;
    return is_false(kHostNameUnchanged, "Warning", "HostRenamed",
                    fmt::format("this host was registered as {}, its name is now {}; it stays "
                                "registered as {}. Set the old name, or release the host and "
                                "remove memory.json of kubexmd's state directory",
                                state.facts.name, state.present_name, state.facts.name));
}

/// Objects that differ from what was applied, until they are put back.
std::optional<Condition> host_as_applied(const AgentState& state) {
    const auto& drift = state.executor.drift;
    if (drift.empty() || !state.decision) return std::nullopt;
    const wire::DriftedObject& first = drift.front();
    const std::string more =
        drift.size() == 1 ? "" : fmt::format(" and {} more objects", drift.size() - 1);
    const auto repairs = state.repairs.find(first.object);
    std::string next = "kubexmctl pause stops repairs";
    if (state.decision->action == Action::pause) {
        next = "repair is paused";
    } else if (repairs != state.repairs.end()) {
        next = fmt::format("repaired {} times, next repair at {}; {}", repairs->second.count,
                           rfc3339(repairs->second.not_before), next);
    }
    return is_false(kHostAsApplied, "Warning", "Drifted",
                    fmt::format("{}: {}{}; {}", first.object, first.found, more, next));
}

/// A newer version alone restarts nothing: files stay as they were written until a plan of the
/// orders writes them. A repair does not: it writes the same bytes again.
std::optional<Condition> rendering_current(const AgentState& state) {
    const auto& pending = state.executor.pending_renderings;
    if (pending.empty()) return std::nullopt;
    return is_false(kRenderingCurrent, "Info", "NewerRenderingPending",
                    fmt::format("this version of kubexm-executor would write {} differently; that "
                                "happens with the next change of the orders, or with kubexmctl "
                                "leave and kubexmctl resume",
                                fmt::join(pending, ", ")));
}

std::optional<Condition> not_paused(const AgentState& state) {
    if (!state.decision || state.decision->action != Action::pause) return std::nullopt;
    return is_false(kNotPaused, "Info", state.decision->reason, state.decision->message);
}

std::optional<Condition> certificate_issued(const AgentState& state) {
    if (state.requests.empty()) return std::nullopt;
    const auto& [identity, request] = *state.requests.begin();
    return is_false(kCertificateIssued, "Info", "WaitingForApproval",
                    fmt::format("{}: certificate request {} is not approved yet; to approve it by "
                                "hand: kubectl certificate approve {}",
                                request.server, request.name, request.name));
}

/// Without pins kubexmd may add CAs of the API server to a node, as its orders say.
std::optional<Condition> cluster_cas_confirmed(const AgentState& state) {
    const auto& unconfirmed = state.executor.unconfirmed;
    if (unconfirmed.empty()) return std::nullopt;
    std::string names;
    for (const wire::AuthorityView& one : unconfirmed) {
        names += fmt::format("{}{} (sha256:{})", names.empty() ? "" : ", ", one.name, one.pin);
    }
    return is_false(kClusterCasConfirmed, "Warning", "NotConfirmed",
                    fmt::format("the orders added CAs of the API server after the join, and nobody "
                                "confirmed them on this host: {}; if they are right, put them into "
                                "a file and run: kubexmctl certs trust-ca FILE",
                                names));
}

std::optional<Condition> node_ready(const AgentState& state) {
    if (!state.node) return std::nullopt;
    const NodeState& node = *state.node;
    if (node.problem) return is_unknown(kNodeReady, "NoAnswer", node.problem->what);
    if (!node.observed) return std::nullopt;
    if (node.invalid) return is_false(kNodeReady, "Warning", "NotReady", node.invalid->what);
    return is_true(kNodeReady, fmt::format("Node {} is Ready", state.facts.name));
}

std::optional<Condition> bootstrapped(const AgentState& state) {
    if (state.released) {
        return is_false(kBootstrapped, "Info", kNodeAbsent, state.released->message);
    }
    if (!state.decision) return std::nullopt;
    const Decision& decision = *state.decision;
    if (decision.action == Action::wait && !decision.reason.empty()) {
        return is_false(kBootstrapped, "Info", decision.reason, decision.message);
    }
    if (decision.action == Action::refuse) {
        return is_false(kBootstrapped, "Warning", decision.reason, decision.message);
    }
    if (state.failure && decision.action == Action::release) {
        return is_false(kBootstrapped, "Error", "ReleaseFailed", state.failure->error.what);
    }
    if (state.failure && decision.action == Action::join && !is_bootstrapped(state)) {
        return is_false(kBootstrapped, "Error", "CloudInitExecutionFailed",
                        state.failure->error.what);
    }
    if (decision.action == Action::join && !is_bootstrapped(state)) {
        return is_false(kBootstrapped, "Info", "Joining",
                        "the join is in progress; AssignmentApplied shows how far it is");
    }
    if (!state.node || !state.node->became_ready || !state.node->record) return std::nullopt;
    return is_true(kBootstrapped,
                   fmt::format("Node {} of this machine became Ready", state.facts.name));
}

std::optional<Condition> installed(const AgentState& state) {
    if (state.released) return is_false(kInstalled, "Info", kNodeAbsent, "");
    if (!state.node || !state.node->became_ready || !state.node->record) return std::nullopt;
    return is_true(kInstalled, fmt::format("kubelet {}, {}", state.node->record->kubelet_version,
                                           state.node->record->runtime_version));
}

std::string taint_text(const model::Taint& taint) {
    return fmt::format("{}={}:{}", taint.key, taint.value, name_of(taint.effect));
}

/// A node may set its taints when it registers only: a person has to do the rest.
std::string missing_taints(const AgentState& state) {
    std::string missing;
    if (!state.host || !state.node || !state.node->record) return missing;
    for (const model::Taint& taint : state.host->taints) {
        const auto& present = state.node->record->taints;
        if (std::ranges::find(present, taint) == present.end()) {
            missing += " " + printable(taint_text(taint));
        }
    }
    return missing;
}

/// The orders that a joined node does not follow, with the next step; empty: it follows all.
std::string pending_orders(const AgentState& state) {
    const auto& joined = state.memory.joined;
    if (state.host && joined && state.host->machine &&
        joined->owner == owner_of(*state.host->machine) && !state.host->version.empty() &&
        state.host->version != joined->version) {
        return fmt::format(
            "version {} is wanted, the node was joined with {}; changing the version "
            "of a node is not possible yet",
            printable(state.host->version), joined->version);
    }
    if (const std::string taints = missing_taints(state); !taints.empty()) {
        return fmt::format("a node may not change its own taints; run: kubectl taint nodes {}{}",
                           state.facts.name, taints);
    }
    return "";
}

std::optional<Condition> assignment_applied(const AgentState& state) {
    if (!state.decision || !state.host || state.released) return std::nullopt;
    const Decision& decision = *state.decision;
    switch (decision.action) {
        case Action::ignore:
        case Action::pause:
        case Action::wait:
        case Action::refuse:
            return std::nullopt;
        case Action::hold:
            return is_false(kAssignmentApplied, "Warning", decision.reason, decision.message);
        case Action::join:
        case Action::adopt:
            if (state.failure) {
                return is_false(kAssignmentApplied, "Error", "JoinFailed",
                                state.failure->error.what);
            }
            return is_false(kAssignmentApplied, "Info", "Joining",
                            state.plan ? progress_of(*state.plan) : "reading the bootstrap secret");
        case Action::release:
            return is_false(kAssignmentApplied, "Info", "Releasing", release_progress(state));
        case Action::maintain:
        case Action::repair:
            break;
    }
    if (const std::string pending = pending_orders(state); !pending.empty()) {
        return is_false(kAssignmentApplied, "Warning", "NotPossible", pending);
    }
    return is_true(kAssignmentApplied, "");
}

/// An earlier report of a condition that is stated no longer, such as a request that was approved.
void resolve(const AgentState& state, std::vector<Condition>& stated) {
    if (!state.host) return;
    for (const std::string_view type :
         {kAssignmentApplied, kCertificateIssued, kClusterCasConfirmed, kHostAsApplied,
          kHostNameUnchanged, kNotPaused}) {
        const auto is_open = [&](const Condition& each) {
            return each.type == type && each.status != model::ConditionStatus::yes;
        };
        if (std::ranges::find(stated, type, &Condition::type) != stated.end()) continue;
        if (std::ranges::any_of(state.host->conditions, is_open)) {
            stated.push_back(is_true(type, ""));
        }
    }
}

}  // namespace

Conditions conditions_of(const AgentState& state) {
    Conditions conditions;
    for (const auto stated :
         {assignment_applied, bootstrapped, certificate_issued, cluster_cas_confirmed,
          host_as_applied, host_name_unchanged, installed, node_ready, not_paused}) {
        if (auto condition = stated(state)) conditions.on_host.push_back(*std::move(condition));
    }
    resolve(state, conditions.on_host);
    for (const auto stated : {bootstrap_usable, executor_available, local_api_available,
                              management_reachable, rendering_current}) {
        if (auto condition = stated(state)) conditions.local.push_back(*std::move(condition));
    }
    return conditions;
}

}  // namespace kubexm::agent
