#pragma once

#include <string>
#include <vector>

#include "daemon/base/error.hpp"

namespace kubexm::executor {

/// The names of all network links of the host.
Result<std::vector<std::string>> list_links();

/// Takes a link away, a bridge from its members; success also where it is gone.
Result<> delete_link(const std::string& name);

}  // namespace kubexm::executor
