#pragma once

#include <string_view>

namespace kubexm::model {

/// The owner of a node's objects is "machine-<uid>"; such names are kubexmd's, all others root's.
inline constexpr std::string_view kMachinePrefix = "machine-";

inline bool is_machine_owner(std::string_view owner) { return owner.starts_with(kMachinePrefix); }

}  // namespace kubexm::model
