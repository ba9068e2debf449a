#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/model/plan_states.hpp"
#include "daemon/model/step.hpp"

namespace kubexm::model {

inline constexpr std::size_t kMaxPlanBytes = std::size_t{128} * 1024;  // fits one wire frame
inline constexpr std::size_t kMaxSteps = 200;

/// The changes to a host, as data.
struct Plan {
    std::string id;     // unique forever: the executor refuses an id that was used before
    std::string owner;  // the uid of an assignment, "preparation"; undo is by owner
    std::vector<Step> steps;
    PlanPurpose purpose = PlanPurpose::prepare;
    /// SHA-256 of the typed state that the plan leads to, by the program that made the plan; a
    /// newer version may make other steps for the same state. Empty: hash_of() is used.
    std::string wanted;

    bool operator==(const Plan&) const = default;
};

/// SHA-256 over owner and steps in their JSON form; id, purpose and wanted are not part of it.
std::string hash_of(const Plan& plan);

/// SHA-256 over steps without the members that have their default value: a newer version, with more
/// of them, has the same digest.
std::string digest_of(std::span<const Step> steps);

/// The documented form: id, owner, purpose, wanted, hash and steps, each with type, target, text,
/// effects and its parameters under "with".
std::string to_json(const Plan& plan);

/// Reads that form. `purpose` and `wanted` may be absent. Derived members (hash, target, text,
/// effects) may be absent, but must agree where they are given; a state is ignored. invalid: names
/// the step and the member.
Result<Plan> plan_from_json(std::string_view text);

/// One step: the members of the struct and its type, as the ledger stores it.
std::string to_json(const Step& step);
Result<Step> step_from_json(std::string_view text);

/// For a person, with the state of each step: the documented form, indented; and one line a step.
std::string to_json(const Plan& plan, std::span<const std::string> states);
std::string to_text(const Plan& plan, std::span<const std::string> states);

}  // namespace kubexm::model
