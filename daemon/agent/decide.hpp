#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/executor/wire/messages.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

/// What the executor has on this host.
struct ExecutorState {
    std::vector<std::string> owners;        // of objects on the host
    std::optional<wire::PlanSummary> last;  // the newest plan of a machine
    std::string running_plan;               // of any owner

    bool has(const std::string& owner) const;
    bool operator==(const ExecutorState&) const = default;
};

enum class Action {
    ignore,    // paused
    wait,      // for the management cluster
    refuse,    // the assignment is not possible on this host; change nothing
    hold,      // the assignment conflicts with the node on this host; change nothing
    join,      // start or complete the join
    maintain,  // joined: monitor the Node
    release,   // undo everything
};

struct Decision {
    Action action = Action::wait;
    std::string owner;   // of the node that is joined, maintained or released
    std::string reason;  // of the condition to set; empty: none
    std::string message;

    bool operator==(const Decision&) const = default;
};

/// Of the owners that kubexmd manages; plans of other owners are left alone.
inline constexpr std::string_view kOwnerPrefix = "machine-";
std::string owner_of(const model::Reference& machine);

/// Pure. Releases on an explicit order only: a machine reference that disappeared or changed is
/// none.
Decision decide(const model::HostRecord& host, const ExecutorState& executor);

}  // namespace kubexm::agent

namespace kubexm {

template <>
struct Names<agent::Action> {
    static constexpr std::array<std::pair<agent::Action, std::string_view>, 7> kAll{{
        {agent::Action::ignore, "ignore"},
        {agent::Action::wait, "wait"},
        {agent::Action::refuse, "refuse"},
        {agent::Action::hold, "hold"},
        {agent::Action::join, "join"},
        {agent::Action::maintain, "maintain"},
        {agent::Action::release, "release"},
    }};
};

}  // namespace kubexm
