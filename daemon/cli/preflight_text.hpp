#pragma once

#include <string>
#include <vector>

#include "daemon/model/preflight.hpp"

namespace kubexm::cli {

/// A table, and whether the host is ready for a join. Pure.
std::string preflight_text(const std::vector<model::Finding>& findings);

}  // namespace kubexm::cli
