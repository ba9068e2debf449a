#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/model/step.hpp"

namespace kubexm::executor {

/// A step that was applied, and whether its object differs now.
struct AppliedStep {
    model::Step step;
    bool differs = false;
};

/// The steps that apply drifted objects again, from those of an owner in the order of the ledger:
/// paths and settings first, then systemd's knowledge of unit files, then units. A unit is
/// restarted where a file differs that it reads at its start. Pure.
std::vector<model::Step> repair_steps(const std::vector<AppliedStep>& applied,
                                      const std::string& plan_id);

/// The unit that reads a file at its start only. Pure.
std::optional<std::string> reader_of(const model::Step& step);

}  // namespace kubexm::executor
