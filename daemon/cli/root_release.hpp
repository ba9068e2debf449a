#pragma once

#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/wire/messages.hpp"

namespace kubexm::cli {

/// The nodes on this host, "machine-<uid>": those with objects, and one whose plan runs. Pure.
std::vector<std::string> nodes_in(const wire::Observation& observation);

/// Undoes every node on this host through the executor, without kubexmd, and shows how; returns an
/// exit code. kFailed: something stays that harms the next join.
Result<int> release_as_root(const std::string& executor_socket);

}  // namespace kubexm::cli
