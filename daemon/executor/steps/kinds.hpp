#pragma once

#include <functional>
#include <string>
#include <vector>

#include "daemon/base/overloaded.hpp"
#include "daemon/executor/steps/context.hpp"
#include "daemon/executor/steps/pre_image.hpp"
#include "daemon/model/allow.hpp"

// The six verbs of steps.hpp for each step type; private to this module. One .cpp per family.

namespace kubexm::executor::kinds {

using Lines = std::vector<std::string>;

#define KUBEXM_STEP_VERBS(Type)                                                             \
    Result<> permitted(const model::AllowList& allow, const model::Type& step);             \
    Result<bool> holds(Context& context, const model::Type& step);                          \
    Result<PreImage> capture(Context& context, const model::Type& step);                    \
    Result<> apply(Context& context, const model::Type& step);                              \
    Result<std::string> undo(Context& context, const model::Type& step, const PreImage& i); \
    Result<Lines> preview(Context& context, const model::Type& step);

KUBEXM_STEP_VERBS(RenderedFile)
KUBEXM_STEP_VERBS(DataFile)
KUBEXM_STEP_VERBS(SecretFile)
KUBEXM_STEP_VERBS(Directory)
KUBEXM_STEP_VERBS(Symlink)
KUBEXM_STEP_VERBS(ManagedBlock)
KUBEXM_STEP_VERBS(AbsentPath)
KUBEXM_STEP_VERBS(DeletedTree)
KUBEXM_STEP_VERBS(Sysctl)
KUBEXM_STEP_VERBS(KernelModule)
KUBEXM_STEP_VERBS(SwapOff)
KUBEXM_STEP_VERBS(Unmounted)
KUBEXM_STEP_VERBS(UnitState)
KUBEXM_STEP_VERBS(DaemonReload)
KUBEXM_STEP_VERBS(ComponentVersion)
KUBEXM_STEP_VERBS(TransientUnit)
KUBEXM_STEP_VERBS(Claim)
KUBEXM_STEP_VERBS(SideEffects)

#undef KUBEXM_STEP_VERBS

template <typename T>
concept FileWithContent = OneOf<T, model::DataFile, model::SecretFile>;
template <typename T>
concept WritesNoWholeFile =
    OneOf<T, model::Directory, model::Symlink, model::ManagedBlock, model::AbsentPath,
          model::DeletedTree, model::Sysctl, model::KernelModule, model::SwapOff, model::Unmounted,
          model::UnitState, model::DaemonReload, model::ComponentVersion, model::TransientUnit,
          model::Claim, model::SideEffects>;

Result<model::Step> recorded(Vault& vault, const model::RenderedFile& step);
inline Result<model::Step> recorded(Vault&, const FileWithContent auto& step) { return step; }
inline Result<model::Step> recorded(Vault&, const WritesNoWholeFile auto& step) { return step; }
Result<std::string> written_by(const model::RenderedFile& step);
inline Result<std::string> written_by(const FileWithContent auto& step) { return step.digest; }
inline Result<std::string> written_by(const WritesNoWholeFile auto&) { return ""; }

// --- shared by several families

/// A path below a missing parent is absent.
Result<PathState> state_at(Context& context, const std::string& path);
/// With the digest of a file's content, unless the file has more than `limit` bytes.
Result<PathState> content_at(Context& context, const std::string& path, std::uint64_t limit);
/// The names in a directory; none where it is absent.
Result<std::vector<std::string>> entries_in(Context& context, const std::string& path,
                                            std::size_t limit);
PathPreImage image_of(const PathState& state);
/// The state of a path for the ledger; the content of a file goes into the vault.
Result<PathPreImage> capture_path(Context& context, const std::string& path);
/// The same where `is_ours`: a file that a step wrote before root discarded the journal.
Result<PreImage> capture_unless_ours(Context& context, const std::string& path, bool is_ours);
/// Returns the parts that could not be restored, as text.
Result<std::string> restore_path(Context& context, const std::string& path,
                                 const PathPreImage& image);
/// The same for a file or link that may have been changed since; `ours` says whether a state of
/// the path is one that a step left.
using IsOurs = std::function<bool(const PathState&)>;
Result<std::string> restore_if_ours(Context& context, const std::string& path,
                                    const PreImage& image, const IsOurs& ours);
/// Undo: whether an object of another owner is at a path or below it.
bool holds_others(const Context& context, const std::string& path);
/// Deletes a directory with everything below it, and reports progress. denied: it has an object of
/// another owner.
Result<> delete_all_below(Context& context, const std::string& path);
/// A file that only its owner may read: where its content is not all ours, a preview does not quote
/// it.
bool is_private(const PathState& state);
/// Stops units that PID 1 listed; one that vanished meanwhile is stopped.
Result<> stop_all(Context& context, const std::vector<Systemd::PathUnit>& listed);
/// The alternative that a step of this type must have. corrupt: it is another.
template <typename T>
Result<T> image_as(const PreImage& image) {
    if (const T* found = std::get_if<T>(&image)) return *found;
    return fail(Code::corrupt, "ledger: pre-image does not match the type of its step");
}

}  // namespace kubexm::executor::kinds
