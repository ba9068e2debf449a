#pragma once

#include <string>

#include "daemon/base/error.hpp"
#include "daemon/base/state_directory.hpp"

// Saves the content of the vault when its journal is damaged or lost: the next journal may not name
// it, and unnamed content is removed from the vault. Pre-images of files exist nowhere else.
// Private to this module.

namespace kubexm::executor::journal {

/// Whether the vault of a state directory has any content.
Result<bool> has_content(const StateDirectory& state);

/// Links every file of the vault into the directory `name`, durably. Can be repeated.
Result<> preserve_content(const StateDirectory& state, const std::string& name);

}  // namespace kubexm::executor::journal
