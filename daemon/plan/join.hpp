#pragma once

#include <string>

#include "daemon/model/node_join.hpp"
#include "daemon/model/plan.hpp"

namespace kubexm::plan {

/// The steps that make a host with containerd and a kubelet binary a node, with a claim for every
/// tree that kubelet will create, so that undo removes it. Pure.
model::Plan make_join(const model::NodeJoin& join, std::string id);

}  // namespace kubexm::plan
