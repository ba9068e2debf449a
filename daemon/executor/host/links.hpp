#pragma once

#include <string>
#include <vector>

#include "daemon/base/error.hpp"

namespace kubexm::executor {

/// The names of all network links.
Result<std::vector<std::string>> list_links();

/// The names of all bridges.
Result<std::vector<std::string>> list_bridges();

/// Success also where the link is absent.
Result<> delete_link(const std::string& name);

}  // namespace kubexm::executor
