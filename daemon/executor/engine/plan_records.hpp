#pragma once

#include "daemon/base/error.hpp"
#include "daemon/executor/engine/audit_queue.hpp"
#include "daemon/executor/journal/records.hpp"
#include "daemon/model/plan.hpp"

// Plans as the journal has them. Private to this module.

namespace kubexm::executor {

PlanRecord record_of(const model::Plan& plan, const Caller& caller);

/// The journal and the ledger have narrower limits than the wire. A plan that they could not read
/// back would stay running forever and could not be undone.
Result<> can_be_read_back(const model::Plan& plan);

}  // namespace kubexm::executor
