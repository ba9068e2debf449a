#pragma once

#include <string_view>
#include <vector>

#include "daemon/model/document.hpp"

namespace kubexm::model {

/// kubelet refuses to start with a label of kubernetes.io or k8s.io that is not on its list.
bool may_kubelet_set_label(std::string_view key);

/// Without those that kubelet refuses.
std::vector<Pair> labels_for_kubelet(std::vector<Pair> labels);

/// Those that kubelet refuses: others have to set them on the Node.
std::vector<Pair> labels_of_others(std::vector<Pair> labels);

}  // namespace kubexm::model
