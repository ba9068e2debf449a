#pragma once

#include <string>

#include "daemon/model/node_join.hpp"
#include "daemon/model/plan.hpp"

namespace kubexm::plan {

/// The steps that make a host with containerd and a kubelet binary a node: what a kubelet needs,
/// and a claim for everything it will make by itself, so that undo finds it. Pure.
model::Plan make_join(const model::NodeJoin& join, std::string id);

/// Where the node's certificate and key go; kubelet-client-current.pem links there.
std::string certificate_file(const model::NodeJoin& join);

}  // namespace kubexm::plan
