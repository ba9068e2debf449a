#include "daemon/executor/engine/policy.hpp"

#include <fmt/format.h>

#include "daemon/base/text.hpp"
#include "daemon/executor/steps/steps.hpp"

namespace kubexm::executor {

Result<> permitted(const model::Plan& plan, const model::AllowList& allow) {
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        if (auto good = permitted(allow, plan.steps[i]); !good) {
            return during(fmt::format("step {} ({})", i, printable(model::text_of(plan.steps[i]))),
                          good.error());
        }
    }
    return {};
}

}  // namespace kubexm::executor
