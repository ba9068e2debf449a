#pragma once

#include <string_view>

namespace kubexm::model {

/// kubelet refuses to start with a label of Kubernetes' own namespaces that is not on its list.
bool may_kubelet_set_label(std::string_view key);

}  // namespace kubexm::model
