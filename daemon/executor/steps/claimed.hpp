#pragma once

#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/steps/context.hpp"
#include "daemon/executor/steps/pre_image.hpp"

// What is new in a claimed directory. Private to this module.

namespace kubexm::executor::claimed {

/// Ends the mounts of pods and removes the entries that are new and ours; returns the names of the
/// other new entries. `now` is what is at the path.
Result<ObjectNames> take_new(Context& context, const model::Claim& step,
                             const ClaimPreImage& before, PathKind now);

}  // namespace kubexm::executor::claimed
