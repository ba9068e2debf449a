#include <fmt/format.h>

#include <algorithm>

#include "daemon/agent/conditions.hpp"
#include "daemon/agent/known_node.hpp"
#include "daemon/agent/pending_orders.hpp"
#include "daemon/agent/state.hpp"
#include "daemon/base/text.hpp"
#include "daemon/model/owner.hpp"
#include "daemon/model/step_names.hpp"

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
    return is_joined(state) || (state.decision && became_ready(state, state.decision->owner));
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

/// Settings of the cluster that this version does not know, security settings among them.
std::optional<Condition> cluster_settings_applied(const AgentState& state) {
    if (!state.settings || state.settings->notes.empty()) return std::nullopt;
    return is_false(kClusterSettingsApplied, "Info", "SettingsIgnored",
                    fmt::format("secret {}: {}", state.settings->secret.name,
                                fmt::join(state.settings->notes, "; ")));
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

/// How kubexmd deals with an object that differs.
std::string repair_of(const AgentState& state, Action action, const wire::DriftedObject& drifted) {
    if (drifted.owner == wire::kWatchOwner) return "the executor tries again by itself";
    if (!model::is_machine_owner(drifted.owner)) {
        return fmt::format("not repaired: apply the plan of owner {} again", drifted.owner);
    }
    if (action == Action::pause) return "repair is paused";
    if (!is_repaired(state, drifted.owner)) return "not repaired at present";
    const auto repairs = state.repairs.find(drifted.object);
    const bool waits =
        repairs != state.repairs.end() && repairs->second.not_before > repairs->second.last;
    const char* const stops = "kubexmctl pause stops repairs";
    if (!waits) return stops;
    return fmt::format("repaired {} times, next repair at {}; {}", repairs->second.count,
                       rfc3339(repairs->second.not_before), stops);
}

/// Drifted objects until they are repaired, those of the node first.
std::optional<Condition> host_as_applied(const AgentState& state) {
    const auto& drift = state.executor.drift;
    if (drift.empty() || !state.decision) return std::nullopt;
    const auto own =
        std::ranges::find_if(drift, model::is_machine_owner, &wire::DriftedObject::owner);
    const wire::DriftedObject& first = own == drift.end() ? drift.front() : *own;
    const std::string more =
        drift.size() == 1 ? "" : fmt::format(" and {} more objects", drift.size() - 1);
    return is_false(kHostAsApplied, "Warning", kDrifted,
                    fmt::format("{}: {}{}; {}", first.object, first.found, more,
                                repair_of(state, state.decision->action, first)));
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
    std::string waiting;
    for (const auto& [identity, request] : state.requests) {
        waiting += (waiting.empty() ? "" : "; ") + approval_text(request);
    }
    return is_false(kCertificateIssued, "Info", "WaitingForApproval", std::move(waiting));
}

/// A renewal begins long before the end: its first failures are no news.
std::optional<Condition> certificates_renewed(const AgentState& state) {
    constexpr double kLate = 0.2;
    constexpr double kVeryLate = 0.05;
    const auto shortest = std::ranges::min_element(
        state.renewals, {}, [](const auto& each) { return each.second.life_left; });
    if (shortest == state.renewals.end() || shortest->second.life_left > kLate) return std::nullopt;
    const RenewalProblem& problem = shortest->second;
    const std::string end =
        problem.not_after ? fmt::format("ends at {} and ", rfc3339(*problem.not_after)) : "";
    return is_false(kCertificatesRenewed, problem.life_left > kVeryLate ? "Warning" : "Error",
                    "RenewalFailed",
                    fmt::format("certificate {} {}was not renewed: {}", shortest->first, end,
                                problem.error.what));
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
                    fmt::format("the orders added CAs of the API server after the join, not "
                                "confirmed on this host: {}; to trust them, write them to a file "
                                "and run: kubexmctl certs trust-ca FILE",
                                names));
}

bool is_reported(const AgentState& state, std::string_view type) {
    return state.host && std::ranges::find(state.host->conditions, type, &Condition::type) !=
                             state.host->conditions.end();
}

std::optional<Condition> node_ready(const AgentState& state) {
    if (has_no_node(state) && is_reported(state, kNodeReady)) {
        return is_false(kNodeReady, "Info", kNodeAbsent, "this host is not a node");
    }
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
    if (decision.action == Action::hold && has_no_node(state)) {
        return is_false(kBootstrapped, "Info", kNodeAbsent, decision.message);
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
    if (state.released || (has_no_node(state) && is_reported(state, kInstalled))) {
        return is_false(kInstalled, "Info", kNodeAbsent, "");
    }
    if (!state.node || !state.node->became_ready || !state.node->record) return std::nullopt;
    return is_true(kInstalled, fmt::format("kubelet {}, {}", state.node->record->kubelet_version,
                                           state.node->record->runtime_version));
}

/// Whether the Node has to be seen before it can be said that all orders are followed.
bool depends_on_node(const AgentState& state) {
    const bool is_seen = state.node && state.node->record;
    return !is_seen && state.host && !(state.host->taints.empty() && state.host->labels.empty());
}

/// A secret that is gone is no problem of a joined node.
std::optional<Condition> settings_invalid(const AgentState& state) {
    const auto& problem = state.settings_problem;
    if (!problem || problem->code != Code::invalid) return std::nullopt;
    if (!state.host || !state.host->bootstrap_secret) return std::nullopt;
    return is_false(kAssignmentApplied, "Warning", kSettingsInvalid,
                    problem->what + "; the node keeps the settings that it has");
}

/// The secret was reported as invalid, and was not read since: after a restart, or in an outage.
bool may_be_invalid_still(const AgentState& state) {
    if (!state.host || !state.host->bootstrap_secret) return false;
    const auto& reports = state.host->conditions;
    const bool is_told =
        std::ranges::find(reports, kSettingsInvalid, &Condition::reason) != reports.end();
    if (!is_told) return false;
    const auto& problem = state.settings_problem;
    return problem ? problem->code != Code::not_found : !state.settings;
}

std::optional<Condition> assignment_applied(const AgentState& state) {
    if (!state.decision || state.released) return std::nullopt;
    const Decision& decision = *state.decision;
    // A person's word holds also where the orders are not known.
    if (!state.host && decision.action != Action::hold) return std::nullopt;
    switch (decision.action) {
        case Action::ignore:
        case Action::pause:
            return std::nullopt;
        case Action::wait:
            if (decision.owner.empty()) return std::nullopt;
            return is_false(kAssignmentApplied, "Info", decision.reason, decision.message);
        case Action::refuse:
        case Action::hold:
            return is_false(kAssignmentApplied, "Warning", decision.reason, decision.message);
        case Action::join:
        case Action::adopt:
            if (!decision.repair.empty()) {
                return is_false(kAssignmentApplied, "Info", "Repairing",
                                "the orders changed; drift is repaired first");
            }
            if (state.failure) {
                return is_false(kAssignmentApplied, "Error", "JoinFailed",
                                state.failure->error.what);
            }
            return is_false(kAssignmentApplied, "Info", "Joining",
                            state.plan ? progress_of(*state.plan) : "reading the bootstrap secret");
        case Action::release:
            return is_false(kAssignmentApplied, "Info", "Releasing", release_progress(state));
        case Action::maintain:
            break;
    }
    if (auto invalid = settings_invalid(state)) return invalid;
    if (may_be_invalid_still(state)) return std::nullopt;
    if (const std::string pending = pending_orders(state); !pending.empty()) {
        return is_false(kAssignmentApplied, "Warning", "NotPossible", pending);
    }
    if (depends_on_node(state)) return std::nullopt;
    return is_true(kAssignmentApplied, "");
}

/// Whether a condition that is not stated is known to hold: the state may only not know it yet, or
/// not while the host is paused.
bool is_known_to_hold(const AgentState& state, std::string_view type) {
    if (type == kHostNameUnchanged) return true;
    if (type == kClusterCasConfirmed) return state.executor.observed.has_value();
    if (type == kHostAsApplied) return state.executor.drift_known;
    if (type == kCertificatesRenewed) return state.renewals.empty();
    if (!state.decision) return false;
    const Decision& decision = *state.decision;
    if (type == kNotPaused) return decision.action != Action::pause;
    const bool is_free = decision.action == Action::wait && decision.owner.empty();
    if (type == kAssignmentApplied) return is_free;  // there are no orders
    return is_free || decision.action == Action::maintain ||
           (state.plan && state.plan->purpose == model::PlanPurpose::join);
}

/// An earlier report of a condition that is stated no longer, such as a request that was approved.
void resolve(const AgentState& state, std::vector<Condition>& stated) {
    if (!state.host) return;
    for (const std::string_view type :
         {kAssignmentApplied, kCertificateIssued, kCertificatesRenewed, kClusterCasConfirmed,
          kHostAsApplied, kHostNameUnchanged, kNotPaused}) {
        const auto is_open = [&](const Condition& each) {
            return each.type == type && each.status != model::ConditionStatus::yes;
        };
        if (std::ranges::find(stated, type, &Condition::type) != stated.end()) continue;
        if (std::ranges::any_of(state.host->conditions, is_open) && is_known_to_hold(state, type)) {
            stated.push_back(is_true(type, ""));
        }
    }
}

}  // namespace

std::string approval_text(const PendingRequest& request) {
    return fmt::format(
        "{}: certificate request {} is not approved yet; to approve it by hand: "
        "kubectl certificate approve {}",
        request.server, request.name, request.name);
}

Conditions conditions_of(const AgentState& state) {
    Conditions conditions;
    for (const auto stated : {assignment_applied, bootstrapped, certificate_issued,
                              certificates_renewed, cluster_cas_confirmed, host_as_applied,
                              host_name_unchanged, installed, node_ready, not_paused}) {
        if (auto condition = stated(state)) conditions.on_host.push_back(*std::move(condition));
    }
    resolve(state, conditions.on_host);
    for (const auto stated : {bootstrap_usable, cluster_settings_applied, executor_available,
                              local_api_available, management_reachable, rendering_current}) {
        if (auto condition = stated(state)) conditions.local.push_back(*std::move(condition));
    }
    return conditions;
}

}  // namespace kubexm::agent
