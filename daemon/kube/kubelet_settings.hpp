#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/model/node_join.hpp"

namespace kubexm::kube {

/// What of a KubeletConfiguration can be done; an empty text asks for nothing. Fields that are not
/// done are named in `notes`, those that kubexmd decides itself (certificates, paths, who may talk
/// to kubelet) are passed over in silence. invalid: no KubeletConfiguration, or a value that is
/// none.
Result<model::KubeletSettings> wishes_from_kubelet_config(std::string_view yaml,
                                                          std::vector<std::string>& notes);

}  // namespace kubexm::kube
