#pragma once

#include <functional>
#include <string>
#include <vector>

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

Result<model::Step> recorded(Vault& vault, const model::RenderedFile& step);
inline Result<model::Step> recorded(Vault&, const auto& step) { return step; }
Result<std::string> written_by(const model::RenderedFile& step);
inline Result<std::string> written_by(const model::DataFile& step) { return step.digest; }
inline Result<std::string> written_by(const model::SecretFile& step) { return step.digest; }
inline Result<std::string> written_by(const auto& /*writes no whole file*/) { return ""; }

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
/// Returns what could not be restored, as text.
Result<std::string> restore_path(Context& context, const std::string& path,
                                 const PathPreImage& image);
/// The same for a file or link that somebody may have changed since; `ours` says whether a state of
/// the path is one that a step left.
using IsOurs = std::function<bool(const PathState&)>;
Result<std::string> restore_if_ours(Context& context, const std::string& path,
                                    const PreImage& image, const IsOurs& ours);
/// Deletes a directory with everything below it, and reports progress.
Result<> delete_all_below(Context& context, const std::string& path);
/// A file of another owner that only its owner may read: a preview does not quote it.
bool is_private(const Context& context, const PathState& state);
/// Stops units that PID 1 listed; one that vanished meanwhile is stopped.
Result<> stop_all(Context& context, const std::vector<Systemd::PathUnit>& listed);
/// The alternative that a step of this type must have. corrupt: it is another.
template <typename T>
Result<T> image_as(const PreImage& image) {
    if (const T* found = std::get_if<T>(&image)) return *found;
    return fail(Code::corrupt, "ledger: pre-image does not match the type of its step");
}

}  // namespace kubexm::executor::kinds
