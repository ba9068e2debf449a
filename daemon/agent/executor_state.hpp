#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/executor/wire/messages.hpp"

namespace kubexm::agent {

/// Of the owners that kubexmd manages; plans of other owners are left alone.

/// The state of this host as the executor observes it.
struct ExecutorState {
    std::vector<wire::ObservedOwner> owners;  // the one with the newest plan first
    std::string running_plan;                 // of any owner

    /// Whether objects of this owner are on the host.
    bool has(const std::string& owner) const;
    /// Whether a join of this owner was complete and was not undone since, not even in part; later
    /// plans that failed, of changed orders too, do not count.
    bool is_joined(const std::string& owner) const;
    /// That join, the last that is complete; null: there is none.
    const wire::Outcome* applied_join(const std::string& owner) const;
    /// The plans of an owner that are done, newest first, since it was released.
    std::vector<wire::Outcome> applied(const std::string& owner) const;
    /// The machines with objects or with a running plan, except those that are released: of them
    /// nothing is left, or only objects that harm no join and that the executor tries to undo
    /// again.
    std::vector<std::string> present_machines() const;
    /// The first of them that is joined; empty: none.
    std::string joined_machine() const;
    /// The objects that released machines have left, besides `owner`.
    std::vector<model::Remaining> leftovers(const std::string& owner) const;
    /// Objects of the machines that the executor would render differently now; each once.
    std::vector<std::string> pending_renderings() const;
    /// The newest plan of an owner; null: there was none.
    const wire::Outcome* newest(const std::string& owner) const;
    /// The outcome of a plan; null: it is no plan of an observed owner, or a newer one followed.
    const wire::Outcome* outcome_of(const std::string& plan_id) const;

    bool operator==(const ExecutorState&) const = default;
};

}  // namespace kubexm::agent
