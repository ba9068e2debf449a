#include "daemon/plan/renewal_plan.hpp"

#include "daemon/plan/node_files.hpp"

namespace kubexm::plan {

model::Plan make_client_renewal(const std::string& owner, const std::string& digest,
                                std::string id) {
    model::Plan plan{.id = std::move(id),
                     .owner = owner,
                     .steps = {},
                     .purpose = model::PlanPurpose::renew,
                     .wanted = digest};
    add_pair(plan.steps, kClientSeries, digest);
    return plan;
}

}  // namespace kubexm::plan
