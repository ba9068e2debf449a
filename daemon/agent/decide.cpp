#include "daemon/agent/decide.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/agent/conditions.hpp"
#include "daemon/base/text.hpp"

namespace kubexm::agent {

namespace {

constexpr std::string_view kTlsBootstrap = "tlsBootstrap";

/// The machine that owns objects on this host, if any.
std::string present_owner(const ExecutorState& executor) {
    const auto ours = [](const std::string& owner) { return owner.starts_with(kOwnerPrefix); };
    const auto found = std::ranges::find_if(executor.owners, ours);
    if (found != executor.owners.end()) return *found;
    // A plan that was interrupted before its first step has no objects yet.
    const bool is_running = executor.last && executor.last->state == "running";
    return is_running ? executor.last->owner : "";
}

/// Keeps the message of the last release, which may ask a person to delete the Node.
Decision wait_for_machine(const model::HostRecord& host) {
    const auto reported =
        std::ranges::find(host.conditions, kBootstrapped, &model::Condition::type);
    if (reported != host.conditions.end() && reported->reason == kNodeAbsent) {
        return {Action::wait, "", reported->reason, reported->message};
    }
    return {Action::wait, "", "WaitingForMachineRefToBeAssigned",
            "the host is not assigned to a cluster"};
}

Decision hold(const std::string& owner, std::string message) {
    return {Action::hold, owner, "ManualDecisionRequired", std::move(message)};
}

bool is_joined(const std::string& owner, const ExecutorState& executor) {
    return executor.has(owner) && executor.last && executor.last->owner == owner &&
           executor.last->state == "done";
}

/// A joined node does not need its bootstrap secret any more.
Decision maintain(const model::HostRecord& host, const std::string& owner) {
    if (host.join_mode == kTlsBootstrap) return {Action::maintain, owner, "", ""};
    return hold(owner,
                fmt::format("ByoHost asks for joinMode \"{1}\", but this host was joined by {0}; "
                            "the node stays as it is until it is released",
                            kTlsBootstrap, printable(host.join_mode)));
}

/// The host is assigned, and its join is not complete.
Decision join(const model::HostRecord& host, const std::string& owner) {
    if (!host.bootstrap_secret) {
        return {Action::wait, owner, "BootstrapDataSecretUnavailable",
                "the host is assigned; the ByoHost names no bootstrap secret yet"};
    }
    if (host.join_mode != kTlsBootstrap) {
        return {Action::refuse, owner, "JoinModeNotAvailable",
                fmt::format(
                    "joinMode {} is not supported yet, expected {}; the host is not changed",
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
            fmt::format("ByoHost names no machine and asks for no release, but this host is a "
                        "node of {}; the node stays as it is. To release it, annotate the "
                        "ByoHost with byoh.infrastructure.cluster.x-k8s.io/unregistering",
                        present));
    }
    const std::string desired = owner_of(*host.machine);
    if (is_joined(desired, executor)) return maintain(host, desired);
    if (present.empty() || present == desired) return join(host, desired);
    return hold(present,
                fmt::format("ByoHost names machine {} with uid {}, but this host is a node of {}; "
                            "the node stays as it is until it is released",
                            host.machine->name, host.machine->uid, present));
}

}  // namespace kubexm::agent
