#include "daemon/agent/decide.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/agent/conditions.hpp"
#include "daemon/agent/join_strategy.hpp"
#include "daemon/agent/orders.hpp"
#include "daemon/agent/releasing.hpp"
#include "daemon/agent/state.hpp"
#include "daemon/base/text.hpp"
#include "daemon/model/owner.hpp"

namespace kubexm::agent {

namespace {

using model::HostRecord;

Decision hold(const std::string& owner, std::string_view reason, std::string message) {
    return {Action::hold, owner, std::string(reason), std::move(message)};
}

/// Keeps the message of the last release, which may ask a person to delete the Node. One that is
/// not remembered as it was reported.
Decision wait_for_machine(const HostRecord& host, const Memory& memory,
                          const ExecutorState& executor) {
    if (memory.freed) {
        return {Action::wait, "", std::string(kNodeAbsent),
                release_message(*memory.freed, executor)};
    }
    const auto reported =
        std::ranges::find(host.conditions, kBootstrapped, &model::Condition::type);
    if (reported != host.conditions.end() && reported->reason == kNodeAbsent) {
        return {Action::wait, "", reported->reason, reported->message};
    }
    return {Action::wait, "", "WaitingForMachineRefToBeAssigned",
            "the host is not assigned to a cluster"};
}

bool needs_repair(const AgentState& state, const std::string& owner, std::chrono::sys_seconds now) {
    return std::ranges::any_of(state.executor.drift, [&](const wire::DriftedObject& each) {
        const auto repairs = state.repairs.find(each.object);
        return each.owner == owner &&
               (repairs == state.repairs.end() || now >= repairs->second.not_before);
    });
}

/// Repair needs neither orders nor the management cluster. In an adoption either machine may have
/// objects that differ.
std::string owner_to_repair(const AgentState& state, const ExecutorState& executor,
                            const Decision& decision, std::chrono::sys_seconds now) {
    if (!allows_repair(decision.action)) return "";
    for (const std::string& owner : {decision.owner, decision.from}) {
        if (executor.is_joined(owner) && needs_repair(state, owner, now)) return owner;
    }
    return "";
}

Decision release(const AgentState& state, const HostRecord& host, const std::string& present) {
    if (const std::string why = contradiction(host, state.memory, present); !why.empty()) {
        return hold(
            present, kStaleReleaseOrder,
            fmt::format("{}; the node stays as it is. To release it, correct the ByoHost or "
                        "run kubexmctl leave on the host",
                        why));
    }
    return {Action::release, present, "", ""};
}

/// Why a person wants this machine to stay released; empty: nobody does. The memory of its join
/// ends when the orders change.
std::string released_by_person(const Memory& memory, const ExecutorState& executor,
                               const std::string& owner) {
    if (memory.leave && memory.leave->owner == owner) return "kubexmctl leave released this host";
    if (!memory.joined || memory.joined->owner != owner) return "";
    const wire::Outcome* last = executor.newest(owner);
    const bool by_root = last != nullptr && last->purpose == model::PlanPurpose::release &&
                         last->uid == 0 && !memory.joined->overlooks_release &&
                         last->plan_id != memory.joined->past_release;
    return by_root ? "root undid the join of this host" : "";
}

/// For a message.
std::string leftovers_of(const Memory& memory, const ExecutorState& executor,
                         const std::string& owner) {
    const bool is_known = memory.freed && memory.freed->owner == owner;
    const std::string left = left_of(is_known ? *memory.freed : Freed{owner, "", ""}, executor);
    return left.empty() ? "" : "; " + left;
}

/// Nothing: nobody wants this machine to stay released.
std::optional<Decision> hold_released(const AgentState& state, const ExecutorState& executor,
                                      const std::string& owner) {
    const std::string why = released_by_person(state.memory, executor, owner);
    if (why.empty()) return std::nullopt;
    return hold("", kReleasedByPerson,
                why + leftovers_of(state.memory, executor, owner) +
                    "; it stays released until the ByoHost names another machine, or until "
                    "kubexmctl resume");
}

/// The machine that a person may have released.
std::string left_machine(const Memory& memory) {
    if (memory.leave) return memory.leave->owner;
    return memory.joined ? memory.joined->owner : "";
}

/// The management cluster does not answer or was not asked yet: the node is looked after, new
/// orders wait.
std::optional<Decision> without_orders(const AgentState& state, const ExecutorState& executor,
                                       const std::string& present) {
    if (present.empty()) return hold_released(state, executor, left_machine(state.memory));
    // In the middle of an adoption there are two machines.
    const std::string joined = executor.joined_machine();
    if (!joined.empty()) return Decision{Action::maintain, joined, "", ""};
    return Decision{Action::wait, present, "",
                    "the join is not complete; it goes on when the management cluster answers"};
}

/// The host is assigned, and its join is not complete.
Decision join(const AgentState& state, const ExecutorState& executor, const HostRecord& host,
              const std::string& owner) {
    if (auto released = hold_released(state, executor, owner)) return *std::move(released);
    if (!host.bootstrap_secret) {
        return {Action::wait, owner, "BootstrapDataSecretUnavailable",
                "the host is assigned; the ByoHost names no bootstrap secret yet"};
    }
    if (find_strategy(host.join_mode) == nullptr) {
        return {
            Action::refuse, owner, "JoinModeNotAvailable",
            fmt::format("joinMode {} is not supported yet, expected tlsBootstrap; the host is not "
                        "changed",
                        host.join_mode.empty() ? "kubeadm" : printable(host.join_mode))};
    }
    return {Action::join, owner, "", "", orders_hash(host)};
}

/// Why a joined node needs a plan: the hash of its changed orders, or a new certificate. Empty: it
/// needs none.
std::string unapplied(const AgentState& state, const ExecutorState& executor,
                      const HostRecord& host, const std::string& owner) {
    if (state.credentials_problem && host.bootstrap_secret) return "new certificate";
    const auto wanted = wanted_join(state);
    if (!wanted || !*wanted) return "";
    const std::string hash = wanted_of(**wanted);
    const wire::Outcome* applied = executor.applied_join(owner);
    return applied != nullptr && applied->wanted == hash ? "" : hash;
}

/// A joined node does not need its bootstrap secret any more.
Decision maintain(const AgentState& state, const ExecutorState& executor, const HostRecord& host,
                  const std::string& owner) {
    if (const std::string mode = join_mode_of(state, owner); host.join_mode != mode) {
        return hold(owner, kManualDecisionRequired,
                    fmt::format("ByoHost asks for joinMode \"{}\", but this host was joined by "
                                "{}; the node stays as it is until it is released",
                                printable(host.join_mode), mode));
    }
    const std::string wanted = unapplied(state, executor, host, owner);
    return {wanted.empty() ? Action::maintain : Action::join, owner, "", "", wanted};
}

Decision other_machine(const AgentState& state, const HostRecord& host,
                       const model::Reference& machine, const std::string& present) {
    const std::string desired = owner_of(machine);
    const bool has_begun = state.memory.joined && state.memory.joined->owner == desired;
    if (state.memory.adopted == desired || has_begun || is_moved(state, present)) {
        return {Action::adopt, desired, "", "", orders_hash(host), present};
    }
    return hold(present, kManualDecisionRequired,
                fmt::format("ByoHost names machine {} with uid {}, but this host is a node of {}; "
                            "the node stays as it is until it is released (kubexmctl leave) or the "
                            "machine is confirmed (kubexmctl adopt)",
                            machine.name, machine.uid, present));
}

Decision assigned(const AgentState& state, const ExecutorState& executor, const HostRecord& host,
                  const model::Reference& machine) {
    const auto machines = executor.present_machines();
    const std::string desired = owner_of(machine);
    const auto other =
        std::ranges::find_if(machines, [&](const std::string& each) { return each != desired; });
    const bool is_joined = executor.is_joined(desired);
    if (other == machines.end()) {
        return is_joined ? maintain(state, executor, host, desired)
                         : join(state, executor, host, desired);
    }
    if (is_joined) return {Action::adopt, desired, "", "", orders_hash(host), *other};
    return other_machine(state, host, machine, *other);
}

std::optional<Decision> follow_orders(const AgentState& state, const ExecutorState& executor,
                                      const std::string& present) {
    if (!state.host) return without_orders(state, executor, present);
    const HostRecord& host = *state.host;
    if (host.paused) return Decision{Action::ignore, present, "", ""};
    if (!state.memory.lost.empty() && !present.empty()) {
        return hold(present, "MemoryLost",
                    fmt::format("{}; the orders cannot be compared with the join of this node, "
                                "which stays as it is. To follow them, run kubexmctl resume on the "
                                "host",
                                state.memory.lost));
    }
    if (host.release_asked) return release(state, host, present);
    if (!host.problem.empty()) {
        if (present.empty()) return Decision{Action::refuse, "", "InvalidAssignment", host.problem};
        return hold(present, kManualDecisionRequired, host.problem);
    }
    if (host.machine) return assigned(state, executor, host, *host.machine);
    if (present.empty()) return wait_for_machine(host, state.memory, executor);
    return hold(present, kManualDecisionRequired,
                fmt::format("ByoHost names no machine and asks for no release, but this host is a "
                            "node of {}; the node stays as it is. To release it, annotate the "
                            "ByoHost with byoh.infrastructure.cluster.x-k8s.io/unregistering, or "
                            "run kubexmctl leave on the host",
                            present));
}

}  // namespace

std::string owner_of(const model::Reference& machine) {
    return fmt::format("{}{}", model::kMachinePrefix, machine.uid);
}

bool allows_repair(Action action) {
    return action == Action::maintain || action == Action::join || action == Action::adopt ||
           action == Action::hold;
}

std::optional<Decision> decide(const AgentState& state, std::chrono::sys_seconds now) {
    if (!state.executor.observed) return std::nullopt;
    const ExecutorState& executor = *state.executor.observed;
    const auto machines = executor.present_machines();
    const std::string present = machines.empty() ? "" : machines.front();
    const Memory& memory = state.memory;
    // In the middle of an adoption both machines: the orders would adopt the other one again.
    if (memory.leave && !present.empty()) return Decision{Action::release, present, "", ""};
    if (memory.pause && is_active(*memory.pause, now)) {
        return Decision{Action::pause, present, "PausedByPerson", pause_text(*memory.pause)};
    }
    auto decision = follow_orders(state, executor, present);
    // Before other work: changed orders may fail, or be held, for a long time.
    if (decision) decision->repair = owner_to_repair(state, executor, *decision, now);
    return decision;
}

}  // namespace kubexm::agent
