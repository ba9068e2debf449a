#pragma once

#include "daemon/base/error.hpp"
#include "daemon/executor/host/files.hpp"
#include "daemon/executor/journal/journal.hpp"

namespace kubexm::executor {

/// Whether kubelet's unit was written by us and the ledger did not have it: root discarded the
/// journal while a node was on the host. Private to this module.
Result<bool> has_lost_node(Journal& journal, const Root& root);

}  // namespace kubexm::executor
