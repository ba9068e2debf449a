#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/executor/wire/messages.hpp"

namespace kubexm::agent {

/// Of the owners that kubexmd manages; plans of other owners are left alone.

/// What the executor has on this host.
struct ExecutorState {
    std::vector<wire::ObservedOwner> owners;  // the one with the newest plan first
    std::string running_plan;                 // of any owner

    /// Whether objects of this owner are on the host.
    bool has(const std::string& owner) const;
    /// Whether the last join of this owner is complete and was not undone since, not even in part;
    /// later renewals and repairs do not count.
    bool is_joined(const std::string& owner) const;
    /// The machines with objects or with a running plan.
    std::vector<std::string> present_machines() const;
    /// The first of them that is joined; empty: none.
    std::string joined_machine() const;
    /// Whether a machine is on the host whose release is not done. A machine with objects that
    /// could not be restored is released.
    bool has_unreleased_machine() const;
    /// Objects of the machines that the executor would render differently now; each once.
    std::vector<std::string> pending_renderings() const;
    /// The newest plan of an owner; null: there was none.
    const wire::Outcome* newest(const std::string& owner) const;
    /// The newest plan of an owner for a purpose; null: there was none.
    const wire::Outcome* outcome(const std::string& owner, model::PlanPurpose purpose) const;
    /// The outcome of a plan; null: it is no plan of an observed owner, or a newer one followed.
    const wire::Outcome* outcome_of(const std::string& plan_id) const;

    bool operator==(const ExecutorState&) const = default;
};

}  // namespace kubexm::agent
