#pragma once

#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/journal/records.hpp"
#include "daemon/model/plan.hpp"

namespace kubexm::executor {

/// Whether a plan of kubexmd leaves the objects of root's owners as root applied them. Its owner
/// may become one more owner of them. Pure. denied: names the object and root's owner. corrupt: the
/// ledger.
Result<> leaves_roots_objects(const model::Plan& plan, const std::vector<LedgerEntry>& ledger);

}  // namespace kubexm::executor
