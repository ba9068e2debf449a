#pragma once

#include <string>

#include "daemon/model/snapshot.hpp"

namespace kubexm::agent {

/// The Snapshot in one line, for `systemctl status`. Pure.
std::string status_line(const model::Snapshot& snapshot);

}  // namespace kubexm::agent
