#pragma once

#include "daemon/base/error.hpp"
#include "daemon/executor/steps/context.hpp"
#include "daemon/executor/steps/pre_image.hpp"
#include "daemon/model/allow.hpp"
#include "daemon/model/step.hpp"

namespace kubexm::executor {

// The verbs of every step type. All of them can be repeated: after a crash it is unknown how far
// the last call got.

/// Whether root's allow-lists permit the step. Pure. denied: an allow-list lacks something; names
/// it. invalid: no allow-list could permit the step.
Result<> permitted(const model::AllowList& allow, const model::Step& step);

/// Whether the host is in the desired state. Changes nothing.
Result<bool> holds(Context& context, const model::Step& step);

/// The state that undo restores; file content goes into the vault. Changes nothing on the host.
Result<PreImage> capture(Context& context, const model::Step& step);

Result<> apply(Context& context, const model::Step& step);

/// The step as the ledger has it: a rendered file names its content, which is in the vault from now
/// on, so that a newer version repairs it with the same bytes.
Result<model::Step> recorded(Vault& vault, const model::Step& step);

/// The digest of the content that apply() writes to a file; empty: the step writes none. Pure.
/// Undo needs it: a newer program may render the same step differently.
Result<std::string> written_by(const model::Step& step);

/// Restores the captured state. Returns the parts that could not be restored, as text; empty: none.
/// A file or link that was changed since the step: one that existed before the step stays, one that
/// the step made is moved into the executor's state; the text names it.
Result<std::string> undo(Context& context, const model::Step& step, const PreImage& image);

struct PreviewedStep {
    bool holds = false;
    /// Lines of a unified diff for files (digests for a secret), "before -> after" for everything
    /// else. Empty where the step holds; a long preview is cut, and says so.
    std::vector<std::string> diff;
};

Result<PreviewedStep> preview(Context& context, const model::Step& step);

}  // namespace kubexm::executor
