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

/// What the executor says is on this host.
struct ExecutorState {
    std::vector<std::string> owners;        // for whom something is there
    std::optional<wire::PlanSummary> last;  // the newest plan for a machine
    std::string running_plan;               // anybody's

    bool has(const std::string& owner) const;
    bool operator==(const ExecutorState&) const = default;
};

enum class Action {
    ignore,    // paused
    wait,      // nothing to do until the management cluster says more
    refuse,    // what it asks cannot be done here, and nothing is done
    hold,      // what it says does not fit what is here: nothing is changed, a person is asked
    join,      // make or finish the node
    maintain,  // the node is made: look after it
    release,   // give everything back
};

/// What to do, for whom, and why, in the words of the contract.
struct Decision {
    Action move = Action::wait;
    std::string owner;   // of what is joined, maintained or released
    std::string reason;  // of the condition that says so; empty where there is none to set
    std::string message;

    bool operator==(const Decision&) const = default;
};

/// Owners of ours begin like this; others' plans on this host are none of our business.
inline constexpr std::string_view kOwnerPrefix = "machine-";
std::string owner_of(const model::Reference& machine);

/// Pure. Destroys on an explicit order only: a machine reference that vanished or changed is not
/// one.
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
