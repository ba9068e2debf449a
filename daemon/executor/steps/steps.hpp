#pragma once

#include "daemon/base/error.hpp"
#include "daemon/executor/steps/context.hpp"
#include "daemon/executor/steps/pre_image.hpp"
#include "daemon/model/step.hpp"

namespace kubexm::executor {

// Check, apply and undo of every step type. All of them can be repeated: after a crash nobody knows
// how far the last try came.

/// Whether the host is as the step wants it. Changes nothing.
Result<bool> holds(Context& context, const model::Step& step);

/// What undo will need, with file content put into the vault. Changes nothing on the host.
Result<PreImage> capture(Context& context, const model::Step& step);

Result<> apply(Context& context, const model::Step& step);

/// Gives back what `capture` saw and returns what could not be, in words; empty: everything.
Result<std::string> undo(Context& context, const model::Step& step, const PreImage& image);

/// What would change, as lines of a unified diff for files (a secret only as its digest) and as
/// "was -> will be" for everything else. Empty where the step holds; cut, visibly, where it is
/// long.
Result<std::vector<std::string>> preview(Context& context, const model::Step& step);

}  // namespace kubexm::executor
