#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "daemon/base/names.hpp"
#include "daemon/executor/journal/records.hpp"

namespace kubexm {

// Journals on disk contain these words: do not change them.

template <>
struct Names<executor::PlanState> {
    static constexpr std::array<std::pair<executor::PlanState, std::string_view>, 5> kAll{{
        {executor::PlanState::running, "running"},
        {executor::PlanState::done, "done"},
        {executor::PlanState::failed, "failed"},
        {executor::PlanState::cancelled, "cancelled"},
        {executor::PlanState::undone, "undone"},
    }};
};

template <>
struct Names<executor::StepState> {
    static constexpr std::array<std::pair<executor::StepState, std::string_view>, 5> kAll{{
        {executor::StepState::pending, "pending"},
        {executor::StepState::prepared, "prepared"},
        {executor::StepState::done, "done"},
        {executor::StepState::skipped, "skipped"},
        {executor::StepState::failed, "failed"},
    }};
};

}  // namespace kubexm
