#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/base/names.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

struct AgentState;

enum class Action {
    ignore,    // paused by the management cluster
    pause,     // paused by a person
    wait,      // for the management cluster
    refuse,    // the assignment is not possible on this host; change nothing
    hold,      // the assignment conflicts with the node on this host; change nothing
    join,      // start or complete the join, or apply changed settings
    adopt,     // the same node for another machine: join for it, then drop the old owner
    maintain,  // joined: monitor the Node
    release,   // undo everything
};

struct Decision {
    Action action = Action::wait;
    std::string owner;   // of the node that is joined, maintained or released
    std::string reason;  // of the condition to set; empty: none
    std::string message;
    std::string wanted;  // hash of the wanted state, where it is not applied
    std::string from;    // adopt: the owner until now
    std::string repair;  // owner whose objects differ and are put back first; empty: none

    bool operator==(const Decision&) const = default;
};

std::string owner_of(const model::Reference& machine);

/// Whether a joined node is repaired beside this: a pause and an end of the node stop that.
bool allows_repair(Action action);

/// Nothing: it cannot be said yet. Pure. Releases on an explicit order only: a machine reference
/// that disappeared or changed is none.
std::optional<Decision> decide(const AgentState& state, std::chrono::sys_seconds now);

}  // namespace kubexm::agent

namespace kubexm {

template <>
struct Names<agent::Action> {
    static constexpr std::array<std::pair<agent::Action, std::string_view>, 9> kAll{{
        {agent::Action::ignore, "ignore"},
        {agent::Action::pause, "pause"},
        {agent::Action::wait, "wait"},
        {agent::Action::refuse, "refuse"},
        {agent::Action::hold, "hold"},
        {agent::Action::join, "join"},
        {agent::Action::adopt, "adopt"},
        {agent::Action::maintain, "maintain"},
        {agent::Action::release, "release"},
    }};
};

}  // namespace kubexm
