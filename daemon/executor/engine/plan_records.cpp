#include "daemon/executor/engine/plan_records.hpp"

#include "daemon/base/try.hpp"

namespace kubexm::executor {

PlanRecord record_of(const model::Plan& plan, const Caller& caller) {
    const std::string hash = model::hash_of(plan);
    return {.id = plan.id,
            .hash = hash,
            .owner = plan.owner,
            .purpose = plan.purpose,
            .wanted = plan.wanted.empty() ? hash : plan.wanted,
            .uid = caller.uid,
            .document = model::to_json(plan)};
}

Result<> can_be_read_back(const model::Plan& plan) {
    if (auto again = model::plan_from_json(model::to_json(plan)); !again) {
        return during("plan for the journal", again.error());
    }
    for (const model::Step& step : plan.steps) {
        if (auto again = model::step_from_json(model::to_json(step)); !again) {
            return during(model::text_of(step), again.error());
        }
    }
    return {};
}

}  // namespace kubexm::executor
