#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

// What every step type says about itself beside its struct. Nothing here has a default: the
// compiler finds what a new type forgot.

namespace kubexm::model {

/// Where the effect of a step is kept. After a reboot a `runtime` step has to be done again.
enum class State { on_disk, runtime };

/// Undo goes from the newest step to the oldest; a `last` step is undone after all others.
enum class Undo { in_order, last };

/// The content that comes with the plan, by digest.
struct StepContent {
    std::uint64_t limit;    // bytes of one digest
    bool may_be_installed;  // the host may have it already, and the vault drops it once applied
};

inline constexpr StepContent kNoContent{0, false};
inline constexpr StepContent kFileData{std::uint64_t{4} << 20U, false};
inline constexpr StepContent kBinaries{std::uint64_t{1} << 30U, true};

/// The slowest steps: deleting a large tree, stopping a unit that does not react.
inline constexpr std::chrono::minutes kStepDeadline{5};

/// The same for all steps of a type.
struct StepTraits {
    std::chrono::seconds deadline;
    State state;
    Undo undo;
    StepContent content;

    constexpr StepTraits(std::chrono::seconds deadline_, State state_, Undo undo_,
                         StepContent content_)
        : deadline(deadline_), state(state_), undo(undo_), content(content_) {}
};

/// What one step is about.
struct Description {
    std::string target;  // a path, a unit, a key; equal type and target: the same object
    std::string text;    // one line for a person: "write /var/lib/kubelet/config.yaml"
    std::string unit;    // of systemd, that the step starts or stops; empty: none
    std::vector<std::string> effects;  // to know before agreeing: "stops kubelet.service"
    std::vector<std::string> digests;  // of the content that comes with the plan

    Description(std::string target_, std::string text_, std::string unit_,
                std::vector<std::string> effects_, std::vector<std::string> digests_)
        : target(std::move(target_)),
          text(std::move(text_)),
          unit(std::move(unit_)),
          effects(std::move(effects_)),
          digests(std::move(digests_)) {}
};

}  // namespace kubexm::model
