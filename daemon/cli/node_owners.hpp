#pragma once

#include <string>
#include <vector>

#include "daemon/base/error.hpp"

namespace kubexm::cli {

using OwnerNames = std::vector<std::string>;

/// The owners of a node's objects on this host, as the executor knows them: "machine-<uid>".
Result<OwnerNames> node_owners(const std::string& executor_socket);

/// How root gets this host back when kubexmd does not answer.
std::string without_kubexmd(const Result<OwnerNames>& owners);

}  // namespace kubexm::cli
