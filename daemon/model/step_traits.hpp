#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

// The traits of a step type, beside its struct. No trait has a default: the compiler names each one
// that a new type forgot.

namespace kubexm::model {

/// Where the effect of a step is kept. After a reboot a `runtime` step has to be done again.
enum class State { on_disk, runtime };

/// Undo goes from the newest step to the oldest; a `last` step is undone after all others.
enum class UndoOrder { in_order, last };

/// `records`: applying it changes nothing, its pre-image is for undo alone. `alone`: it starts or
/// stops something, destroys content that cannot be captured, or takes long; it shares no commit.
enum class CommitGroup { records, grouped, alone };

/// The users of the object that need it, or make it again, while they still run; such an undo goes
/// first.
enum class NeededBy { none, units, pods, both };

/// How an applied step is compared with the host later. `none`: it changes something once, or only
/// on undo. `path`: its check tells whether the object at path_of() differs. `own`: by a function
/// of engine/drift.cpp.
enum class DriftCheck { none, path, own };

/// The content that comes with the plan, by digest.
struct StepContent {
    std::uint64_t limit;    // bytes of one digest
    bool may_be_installed;  // the host may have it already, and the vault drops it once applied
};

inline constexpr StepContent kNoContent{0, false};
inline constexpr StepContent kCaBundle{std::uint64_t{256} << 10U, false};
inline constexpr StepContent kSecretData{std::uint64_t{64} << 10U, false};  // a key and its chain
inline constexpr StepContent kBinaries{std::uint64_t{1} << 30U, true};

/// The slowest usual step restarts a unit that ignores SIGTERM: 90 s until systemd's SIGKILL, and
/// 90 s for its start.
inline constexpr std::chrono::minutes kStepDeadline{5};
/// Deletes a tree: a million files on a slow disk.
inline constexpr std::chrono::minutes kTreeDeadline{15};

/// The same for all steps of a type.
struct StepTraits {
    std::chrono::seconds deadline;
    State state;
    UndoOrder undo_order;
    StepContent content;
    CommitGroup commit_group;
    NeededBy needed_by;
    DriftCheck drift;

    constexpr StepTraits(std::chrono::seconds deadline_, State state_, UndoOrder undo_order_,
                         StepContent content_, CommitGroup commit_group_, NeededBy needed_by_,
                         DriftCheck drift_)
        : deadline(deadline_),
          state(state_),
          undo_order(undo_order_),
          content(content_),
          commit_group(commit_group_),
          needed_by(needed_by_),
          drift(drift_) {}
};

/// The object and the text of one step.
struct Description {
    std::string target;  // a path, a unit, a key; equal type and target: the same object
    std::string object;  // for a list of objects: "file /etc/hosts", "unit kubelet.service"
    std::string text;    // one line for a person: "write /var/lib/kubelet/config.yaml"
    std::string unit;    // of systemd, that the step starts or stops; empty: none
    std::vector<std::string> effects;  // to know before agreeing: "stops kubelet.service"
    std::vector<std::string> digests;  // of the content that comes with the plan

    Description(std::string target_, std::string object_, std::string text_, std::string unit_,
                std::vector<std::string> effects_, std::vector<std::string> digests_)
        : target(std::move(target_)),
          object(std::move(object_)),
          text(std::move(text_)),
          unit(std::move(unit_)),
          effects(std::move(effects_)),
          digests(std::move(digests_)) {}
};

}  // namespace kubexm::model
