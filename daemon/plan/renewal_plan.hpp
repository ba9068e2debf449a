#pragma once

#include <string>

#include "daemon/model/plan.hpp"

namespace kubexm::plan {

/// Gives kubelet another client certificate: it reads the file again without a restart. `digest` is
/// that of certificate and key in one PEM. Pure.
model::Plan make_client_renewal(const std::string& owner, const std::string& digest,
                                std::string id);

}  // namespace kubexm::plan
