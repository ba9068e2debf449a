#pragma once

#include <string_view>

namespace kubexm::model {

/// kubelet refuses to start with a label of kubernetes.io or k8s.io that is not on its list.
bool may_kubelet_set_label(std::string_view key);

}  // namespace kubexm::model
