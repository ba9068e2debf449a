#include "daemon/agent/commands.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/agent/conditions.hpp"
#include "daemon/base/log.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::agent {

namespace {

std::int64_t seconds_of(std::chrono::sys_seconds time) { return time.time_since_epoch().count(); }

Result<std::vector<std::string>> machines_of(const AgentState& state) {
    if (state.executor.observed) return state.executor.observed->present_machines();
    return fail(Code::unavailable,
                "kubexm-executor has not answered yet: what is on this host is not known; retry, "
                "or see kubexmctl status");
}

}  // namespace

Result<std::string> Commands::run(const model::Command& command) {
    log::notice(
        fmt::format("user {} asks for {} ({})", command.uid, name_of(command.verb), command.door));
    switch (command.verb) {
        case model::Verb::pause:
            return pause(command);
        case model::Verb::resume:
            return resume();
        case model::Verb::leave:
            return leave(command);
        case model::Verb::adopt:
            return adopt();
        case model::Verb::repair:
            return repair();
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
    const bool was_stopped = before.pause || before.leave;
    TRY(remember(context_, [&](Memory& memory) {
        memory.pause.reset();
        memory.leave.reset();
        memory.resumed_at = seconds_of(context_.state.now());
    }));
    return std::string(was_stopped ? "orders are followed again" : "orders are followed");
}

Result<std::string> Commands::leave(const model::Command& command) {
    const auto machines = TRY(machines_of(context_.state.read()));
    if (machines.empty()) {
        return fail(Code::not_found, "this host is no node of a cluster: nothing to leave");
    }
    const std::string& owner = machines.front();
    TRY(remember(context_, [&](Memory& memory) { memory.leave = Leave{owner, command.uid}; }));
    return fmt::format("releasing {}; see kubexmctl status", owner);
}

/// At once, also where repairs back off.
Result<std::string> Commands::repair() {
    context_.state.change([](AgentState& state) { state.repairs.clear(); });
    return std::string(context_.state.read().executor.drift.empty()
                           ? "nothing differs from what was applied"
                           : "repairing; see kubexmctl status");
}

Result<std::string> Commands::adopt() {
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
    TRY(remember(context_, [&](Memory& memory) { memory.adopted = desired; }));
    return fmt::format("the node of {} becomes that of {}", machines.front(), desired);
}

}  // namespace kubexm::agent
