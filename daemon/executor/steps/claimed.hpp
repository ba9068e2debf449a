#pragma once

#include <string>

#include "daemon/base/error.hpp"
#include "daemon/executor/steps/claimed_entries.hpp"
#include "daemon/executor/steps/context.hpp"
#include "daemon/executor/steps/pre_image.hpp"

// The new entries of a claimed directory. Private to this module.

namespace kubexm::executor::claimed {

/// Ends the mounts of pods and removes the entries that are new and ours; returns the names of the
/// other new entries. `now` is the present object at the path.
Result<ObjectNames> take_new(Context& context, const model::Claim& step,
                             const ClaimPreImage& before, PathKind now);

/// Takes out of a pre-image what kubelet and pods made: the node that is there is ours.
void leave_out_kubelets(const std::string& directory, ClaimPreImage& image);

}  // namespace kubexm::executor::claimed
