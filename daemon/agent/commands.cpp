#include "daemon/agent/commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "daemon/agent/conditions.hpp"
#include "daemon/agent/orders.hpp"
#include "daemon/base/log.hpp"
#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::agent {

namespace {

std::int64_t seconds_of(std::chrono::sys_seconds time) { return time.time_since_epoch().count(); }

/// Why kubexmd repairs nothing at present, and which command changes that.
Result<> may_repair(const AgentState& state) {
    if (!state.decision) {
        return fail(Code::unavailable,
                    "kubexmd has not decided about this host yet; retry, or see kubexmctl status");
    }
    switch (state.decision->action) {
        case Action::pause:
            return fail(Code::conflict, state.decision->message + ": run kubexmctl resume first");
        case Action::hold:
            if (!state.decision->owner.empty()) return {};  // the orders are, not the node
            return fail(Code::conflict, "this host is held: " + state.decision->message);
        case Action::ignore:
            return fail(Code::conflict,
                        "ByoHost is paused: remove its annotation cluster.x-k8s.io/paused first");
        case Action::wait:
        case Action::refuse:
        case Action::join:
        case Action::adopt:
        case Action::maintain:
        case Action::release:
            return {};
    }
    std::unreachable();
}

/// Objects of other owners are theirs to repair.
Result<> has_drift_of_node(const AgentState& state) {
    const auto& drift = state.executor.drift;
    const Decision decision = state.decision.value_or(Decision{});
    const auto is_of_node = [&](const wire::DriftedObject& each) {
        return each.owner == decision.owner || each.owner == decision.from;
    };
    if (std::ranges::any_of(drift, is_of_node)) return {};
    return fail(Code::conflict,
                fmt::format("{} differs, and is of owner {}: kubexmd repairs its node only; apply "
                            "the plan of that owner again",
                            drift.front().object, drift.front().owner));
}

Result<std::vector<std::string>> machines_of(const AgentState& state) {
    if (state.executor.observed) return state.executor.observed->present_machines();
    return fail(Code::unavailable,
                "kubexm-executor has not reported the state of this host yet; retry, or see "
                "kubexmctl status");
}

/// The machine that stays released: in the middle of an adoption, or of a join that has nothing on
/// this host yet, that of the orders. Empty: there is none.
std::string stays_released(const AgentState& state, const std::vector<std::string>& machines) {
    const Decision decision = state.decision.value_or(Decision{});
    if (decision.action == Action::adopt) return decision.owner;
    if (!machines.empty()) return machines.front();
    const bool is_joining = decision.action == Action::join || decision.action == Action::wait;
    return is_joining ? decision.owner : "";
}

/// All, where no name is given.
Result<std::vector<std::string>> certificates_to_renew(const AgentState& state,
                                                       const std::string& name) {
    std::vector<std::string> names;
    if (state.management.certificate) names.push_back(state.management.certificate->name);
    if (state.node && state.node->certificate) names.push_back(state.node->certificate->name);
    if (names.empty()) {
        return fail(Code::conflict,
                    "this host has no certificate yet: there is nothing to renew; see kubexmctl "
                    "status");
    }
    if (name.empty()) return names;
    if (std::ranges::find(names, name) != names.end()) return std::vector{name};
    return fail(Code::conflict, fmt::format("certificate {}: expected one of {}; see kubexmctl "
                                            "certs",
                                            printable(name), fmt::join(names, ", ")));
}

}  // namespace

Result<std::string> Commands::run(const model::Command& command) {
    log::notice(fmt::format("user {} asks for {} ({})", command.uid, name_of(command.verb),
                            command.listener));
    switch (command.verb) {
        case model::Verb::pause:
            return pause(command);
        case model::Verb::resume:
            return resume();
        case model::Verb::leave:
            return leave(command);
        case model::Verb::adopt:
            return adopt(command);
        case model::Verb::repair:
            return repair(command);
        case model::Verb::renew:
            return renew(command);
    }
    return fail(Code::invalid, "unknown verb");
}

Result<std::string> Commands::pause(const model::Command& command) {
    const std::int64_t now = seconds_of(context_.state.now());
    const Pause pause{.since = now,
                      .until = command.duration ? now + command.duration->count() : 0,
                      .uid = command.uid};
    TRY(remember(context_, [&](Memory& memory) { memory.pause = pause; }));
    if (pause.until == 0) return std::string("paused until kubexmctl resume");
    return fmt::format("paused until {}",
                       rfc3339(std::chrono::sys_seconds(std::chrono::seconds(pause.until))));
}

Result<std::string> Commands::resume() {
    const Memory& before = context_.state.read().memory;
    const auto& observed = context_.state.read().executor.observed;
    const bool was_stopped = before.pause || before.leave || !before.lost.empty();
    TRY(remember(context_, [&](Memory& memory) {
        memory.pause.reset();
        memory.leave.reset();
        memory.lost.clear();
        if (memory.joined) overlook_release(*memory.joined, observed);
    }));
    return std::string(was_stopped ? "orders are followed again" : "orders are followed");
}

/// Also with a full disk: a release is a way to get space.
Result<std::string> Commands::leave(const model::Command& command) {
    const auto machines = TRY(machines_of(context_.state.read()));
    const std::string owner = stays_released(context_.state.read(), machines);
    if (owner.empty()) {
        return fail(Code::not_found, "this host is no node of a cluster: nothing to leave");
    }
    const auto written = remember_anyway(
        context_, [&](Memory& memory) { memory.leave = Leave{owner, command.uid}; });
    std::string said = fmt::format("{} {}; see kubexmctl status",
                                   machines.empty() ? "ending the join of" : "releasing", owner);
    if (written) return said;
    return fmt::format(
        "{}. A restart of kubexmd would forget that it has to stay released, until this can be "
        "written: {}",
        said, written.error().what);
}

/// At once, also where repairs back off.
Result<std::string> Commands::repair(const model::Command& command) {
    const AgentState& state = context_.state.read();
    const bool differs = !state.executor.drift.empty();
    if (differs) TRY(may_repair(state));
    if (differs) TRY(has_drift_of_node(state));
    context_.state.change([&](AgentState& changed) {
        changed.repairs.clear();
        if (differs) changed.repair_asked_by = command.uid;
    });
    return std::string(differs ? "repairing; see kubexmctl status"
                               : "no object differs from its applied state");
}

Result<std::string> Commands::renew(const model::Command& command) {
    const auto names = TRY(certificates_to_renew(context_.state.read(), command.certificate));
    context_.state.change([&](AgentState& state) {
        for (const std::string& name : names) {
            AskedRenewal& order = state.asked_renewals[name];
            ++order.count;
            order.uid = command.uid;
        }
    });
    return fmt::format("renewing {}; see kubexmctl certs", fmt::join(names, ", "));
}

Result<std::string> Commands::adopt(const model::Command& command) {
    const AgentState& state = context_.state.read();
    const auto machines = TRY(machines_of(state));
    if (!state.host || !state.host->machine) {
        return fail(Code::conflict,
                    "ByoHost names no machine, or the management cluster has not answered yet: "
                    "there is nothing to adopt");
    }
    const std::string desired = owner_of(*state.host->machine);
    const bool is_other = !machines.empty() && machines.front() != desired;
    if (!is_other) {
        return fail(Code::not_found,
                    fmt::format("this host is {}: there is nothing to adopt",
                                machines.empty() ? "no node" : "a node of that machine already"));
    }
    TRY(remember(context_, [&](Memory& memory) {
        memory.adopted = desired;
        memory.adopted_by = command.uid;
    }));
    return fmt::format("the node of {} becomes that of {}", machines.front(), desired);
}

}  // namespace kubexm::agent
