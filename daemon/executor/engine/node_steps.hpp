#pragma once

#include "daemon/model/step.hpp"

namespace kubexm::executor {

/// Whether a step makes a kubelet that runs, or its unit. Pure.
bool makes_kubelet(const model::Step& step);

/// Whether a step changes objects that a node reads or keeps, or records them for an undo that
/// would: files of kubelet, of the container runtime and of pods, their directories, the units,
/// side effects. Pure.
bool concerns_node(const model::Step& step);

}  // namespace kubexm::executor
