#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "daemon/base/names.hpp"
#include "daemon/hands/journal/records.hpp"

namespace kubexm {

// These words are in journals on disk: they stay.

template <>
struct Names<hands::PlanState> {
    static constexpr std::array<std::pair<hands::PlanState, std::string_view>, 5> kAll{{
        {hands::PlanState::running, "running"},
        {hands::PlanState::done, "done"},
        {hands::PlanState::failed, "failed"},
        {hands::PlanState::cancelled, "cancelled"},
        {hands::PlanState::undone, "undone"},
    }};
};

template <>
struct Names<hands::StepState> {
    static constexpr std::array<std::pair<hands::StepState, std::string_view>, 5> kAll{{
        {hands::StepState::pending, "pending"},
        {hands::StepState::prepared, "prepared"},
        {hands::StepState::done, "done"},
        {hands::StepState::skipped, "skipped"},
        {hands::StepState::failed, "failed"},
    }};
};

}  // namespace kubexm
