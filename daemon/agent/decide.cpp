#include "daemon/agent/decide.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/agent/conditions.hpp"
#include "daemon/base/text.hpp"

namespace kubexm::agent {

namespace {

constexpr std::string_view kTlsBootstrap = "tlsBootstrap";

/// The machine for which something of ours is on the host, if there is one.
std::string present_owner(const ExecutorState& executor) {
    const auto ours = [](const std::string& owner) { return owner.starts_with(kOwnerPrefix); };
    const auto found = std::ranges::find_if(executor.owners, ours);
    if (found != executor.owners.end()) return *found;
    // A plan that was interrupted before its first step has left nothing yet.
    const bool runs = executor.last && executor.last->state == "running";
    return runs ? executor.last->owner : "";
}

/// Nobody wants the host. What was said when it was released stays: somebody may still have to do
/// something about it.
Decision wait_for_machine(const model::HostRecord& host) {
    const auto said = std::ranges::find(host.conditions, kBootstrapped, &model::Condition::type);
    if (said != host.conditions.end() && said->reason == kNodeAbsent) {
        return {Action::wait, "", said->reason, said->message};
    }
    return {Action::wait, "", "WaitingForMachineRefToBeAssigned", "no cluster wants this host"};
}

Decision hold(const std::string& owner, std::string message) {
    return {Action::hold, owner, "ManualDecisionRequired", std::move(message)};
}

bool is_made(const std::string& owner, const ExecutorState& executor) {
    return executor.has(owner) && executor.last && executor.last->owner == owner &&
           executor.last->state == "done";
}

/// A node does not need its secret any more, and runs on whatever else is asked.
Decision keep(const model::HostRecord& host, const std::string& owner) {
    if (host.join_mode == kTlsBootstrap) return {Action::maintain, owner, "", ""};
    return hold(owner, fmt::format("the host was joined by {}, but its ByoHost asks for joinMode "
                                   "\"{}\" now: the node stays as it is until it is released",
                                   kTlsBootstrap, printable(host.join_mode)));
}

/// There is a machine, and no node is here, or a part of one.
Decision make(const model::HostRecord& host, const std::string& owner) {
    if (!host.bootstrap_secret) {
        return {Action::wait, owner, "BootstrapDataSecretUnavailable",
                "the host is assigned; its bootstrap secret is not named yet"};
    }
    if (host.join_mode != kTlsBootstrap) {
        return {Action::refuse, owner, "JoinModeNotAvailable",
                fmt::format(
                    "joinMode {} is not available yet, only {}: nothing is done on the host",
                    host.join_mode.empty() ? "kubeadm" : printable(host.join_mode), kTlsBootstrap)};
    }
    return {Action::join, owner, "", ""};
}

}  // namespace

bool ExecutorState::has(const std::string& owner) const {
    return std::ranges::find(owners, owner) != owners.end();
}

std::string owner_of(const model::Reference& machine) {
    return fmt::format("{}{}", kOwnerPrefix, machine.uid);
}

Decision decide(const model::HostRecord& host, const ExecutorState& executor) {
    const std::string present = present_owner(executor);
    if (host.paused) return {Action::ignore, present, "", ""};
    if (host.release_asked) return {Action::release, present, "", ""};
    if (!host.problem.empty()) {
        if (present.empty()) return {Action::refuse, "", "InvalidAssignment", host.problem};
        return hold(present, host.problem);
    }
    if (!host.machine) {
        if (present.empty()) return wait_for_machine(host);
        return hold(
            present,
            fmt::format("the host is a node for {}, but its ByoHost names no machine and "
                        "nobody asked for a release: the node stays as it is. Annotate the "
                        "ByoHost with byoh.infrastructure.cluster.x-k8s.io/unregistering to "
                        "release it",
                        present));
    }
    const std::string wanted = owner_of(*host.machine);
    if (is_made(wanted, executor)) return keep(host, wanted);
    if (present.empty() || present == wanted) return make(host, wanted);
    return hold(present,
                fmt::format("the host is a node for {}, but its ByoHost names machine {} with "
                            "uid {}: the node stays as it is until it is released",
                            present, host.machine->name, host.machine->uid));
}

}  // namespace kubexm::agent
