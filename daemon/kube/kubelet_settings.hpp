#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/model/node_join.hpp"

namespace kubexm::kube {

/// The supported settings of a KubeletConfiguration; defaults for an empty text. `notes` names the
/// unsupported fields, except those that kubexmd sets itself (certificates, paths, authorization).
/// invalid: not a KubeletConfiguration, or a malformed value.
Result<model::KubeletSettings> settings_from_kubelet_config(std::string_view yaml,
                                                            std::vector<std::string>& notes);

}  // namespace kubexm::kube
