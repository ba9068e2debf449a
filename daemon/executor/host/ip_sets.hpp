#pragma once

#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/host/files.hpp"

namespace kubexm::executor {

/// The names of all sets of ipset; none on a kernel that has not loaded it.
Result<std::vector<std::string>> list_ip_sets(const Root& root);

/// Success also where the set is absent. conflict: a rule uses it.
Result<> delete_ip_set(const std::string& name);

}  // namespace kubexm::executor
