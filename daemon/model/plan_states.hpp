#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "daemon/base/names.hpp"

// The words of journal, wire, status and openapi.yaml. Journals on disk contain them: do not change
// them.

namespace kubexm::model {

/// The purpose of a plan.
enum class PlanPurpose {
    prepare,  // the host: settings and directories
    install,  // components
    join,     // the node
    renew,    // a certificate of the node
    repair,   // the applied state, where the host has drifted from it
    release,  // an undo: restores the owner's pre-images, has no steps of its own
};

enum class PlanState {
    proposed,   // not accepted by the executor yet
    refused,    // by the executor; nothing was changed
    running,    // forward, or backward for an undo
    done,       // every step holds
    failed,     // stopped at a step; finished steps stay in the ledger
    cancelled,  // stopped at a step boundary on request
    undone,     // end of an undo: every pre-image of the owner is restored, or named as staying
};

enum class StepState {
    pending,
    prepared,  // the pre-image is on disk; the host may or may not have changed
    done,
    skipped,  // held already
    failed,
};

}  // namespace kubexm::model

namespace kubexm {

template <>
struct Names<model::PlanPurpose> {
    static constexpr std::array<std::pair<model::PlanPurpose, std::string_view>, 6> kAll{{
        {model::PlanPurpose::prepare, "prepare"},
        {model::PlanPurpose::install, "install"},
        {model::PlanPurpose::join, "join"},
        {model::PlanPurpose::renew, "renew"},
        {model::PlanPurpose::repair, "repair"},
        {model::PlanPurpose::release, "release"},
    }};
};

template <>
struct Names<model::PlanState> {
    static constexpr std::array<std::pair<model::PlanState, std::string_view>, 7> kAll{{
        {model::PlanState::proposed, "proposed"},
        {model::PlanState::refused, "refused"},
        {model::PlanState::running, "running"},
        {model::PlanState::done, "done"},
        {model::PlanState::failed, "failed"},
        {model::PlanState::cancelled, "cancelled"},
        {model::PlanState::undone, "undone"},
    }};
};

template <>
struct Names<model::StepState> {
    static constexpr std::array<std::pair<model::StepState, std::string_view>, 5> kAll{{
        {model::StepState::pending, "pending"},
        {model::StepState::prepared, "prepared"},
        {model::StepState::done, "done"},
        {model::StepState::skipped, "skipped"},
        {model::StepState::failed, "failed"},
    }};
};

}  // namespace kubexm
