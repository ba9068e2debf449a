#pragma once

#include <string>

#include "daemon/base/error.hpp"
#include "daemon/base/state_directory.hpp"

// The vault's content when its journal is damaged or lost: files that were there before us and
// exist nowhere else. The journal that comes next may not know them, and whatever it does not know
// is removed from the vault. Private to this module.

namespace kubexm::executor::journal {

/// Whether the vault of a state directory has anything in it.
Result<bool> has_content(const StateDirectory& state);

/// Gives everything in the vault a second name in the directory `name`, durably. Can be repeated.
Result<> preserve_content(const StateDirectory& state, const std::string& name);

}  // namespace kubexm::executor::journal
