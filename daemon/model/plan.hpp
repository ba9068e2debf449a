#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/model/step.hpp"

namespace kubexm::model {

inline constexpr std::size_t kMaxPlanBytes = std::size_t{128} * 1024;  // fits one wire frame
inline constexpr std::size_t kMaxSteps = 200;

/// Everything that shall change on the host, as data.
struct Plan {
    std::string id;     // unique for ever: the executor refuses an id they have seen
    std::string owner;  // for whom: an assignment's uid, "preparation"; undo is by owner
    std::vector<Step> steps;

    bool operator==(const Plan&) const = default;
};

/// SHA-256 over owner and steps in their JSON form: equal work has an equal hash, whatever its id.
std::string hash_of(const Plan& plan);

/// The documented form: id, owner, hash and steps, each with type, target, text, effects and its
/// parameters under "with".
std::string to_json(const Plan& plan);

/// Reads that form. What can be derived (hash, target, text, effects) may be left out, and is
/// refused where it does not agree; a state is not the plan's to say and is passed over. invalid:
/// names the step and the member.
Result<Plan> plan_from_json(std::string_view text);

/// One step alone: the struct's members and its type, as the ledger keeps it.
std::string to_json(const Step& step);
Result<Step> step_from_json(std::string_view text);

/// For a person: the documented form with the state of each step, indented, and one line a step.
std::string to_json(const Plan& plan, std::span<const std::string> states);
std::string to_text(const Plan& plan, std::span<const std::string> states);

}  // namespace kubexm::model
