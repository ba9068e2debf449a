#pragma once

#include <vector>

#include "daemon/executor/preflight/facts.hpp"
#include "daemon/model/plan.hpp"
#include "daemon/model/preflight.hpp"

namespace kubexm::executor {

/// The checks that fail. `is_own_node`: the ledger has a node of ours, whose kubelet, files, pods
/// and port are no findings. Pure.
std::vector<model::Finding> findings_of(const PreflightFacts& facts, const model::JoinNeeds& needs,
                                        bool is_own_node);

/// Whether the check finds a node of another installation. Pure.
bool is_about_foreign_nodes(model::CheckId check);

/// The needs of a join, from the documents of its plan. Pure.
model::JoinNeeds join_needs_of(const model::Plan& plan);

}  // namespace kubexm::executor
