#include "daemon/cli/release_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/cli/exit_code.hpp"
#include "daemon/cli/json_document.hpp"

namespace kubexm::cli {

namespace {

using nlohmann::json;

bool is_release(const json& plan) { return word(plan, "purpose") == "release"; }

bool has_ended(const json& step) {
    const std::string state = word(step, "state");
    return state == "done" || state == "skipped" || state == "failed";
}

bool is_node(const std::string& phase) {
    return phase == "joining" || phase == "joined" || phase == "releasing";
}

/// kubexmd was started again during the release.
bool is_unknown(const std::string& phase) {
    return phase == "enrolling" || phase == "unconfigured";
}

/// A host that has left is held until its orders change.
bool has_left(const json& status) {
    const json& conditions = member(status, "conditions");
    return std::any_of(conditions.begin(), conditions.end(), [](const json& one) {
        return word(one, "type") == "AssignmentApplied" &&
               word(one, "reason") == "ReleasedByPerson";
    });
}

bool needs_a_person(const std::string& phase, const json& status) {
    return phase == "failed" || (phase == "held" && !has_left(status));
}

std::string problems(const json& status) {
    std::string lines;
    for (const json& one : member(status, "conditions")) {
        if (word(one, "status") != "False") continue;
        lines += joined({word(one, "type"), word(one, "reason"), word(one, "message")}) + "\n";
    }
    return lines;
}

std::string released(const json& plan) {
    const json& stays = member(plan, "stays");
    if (!is_release(plan) || stays.empty()) return "This host is released.\n";
    std::string lines = "This host is released, but some objects stay:\n";
    for (const json& one : stays) {
        lines += fmt::format("stays    {}: {}\n", word(one, "object"), word(one, "why"));
    }
    return lines;
}

}  // namespace

/// Steps end in their order.
std::string ReleaseProgress::new_steps(const json& plan) {
    if (!is_release(plan)) return "";
    if (word(plan, "id") != plan_) {
        plan_ = word(plan, "id");
        shown_ = 0;
    }
    std::string lines;
    const json& steps = member(plan, "steps");
    for (; shown_ < steps.size() && steps.is_array() && has_ended(steps[shown_]); ++shown_) {
        const json& step = steps[shown_];
        lines += fmt::format("{:<8} {}\n", word(step, "state"),
                             joined({word(step, "text"), word(step, "error")}));
    }
    return lines;
}

std::string ReleaseProgress::update(const json& status) {
    const std::string phase = word(status, "phase");
    const json& plan = member(status, "plan");
    std::string steps = new_steps(plan);
    if (is_node(phase) || is_unknown(phase)) return steps;
    end_ = needs_a_person(phase, status) ? kFailed : kDone;
    if (end_ == kDone) return steps + released(plan);
    return fmt::format("{}This host is not released, its phase is {}:\n{}", steps, phase,
                       problems(status));
}

}  // namespace kubexm::cli
