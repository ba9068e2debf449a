#include "daemon/executor/engine/policy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/refusal.hpp"
#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/steps/steps.hpp"
#include "daemon/model/owner.hpp"
#include "daemon/model/preflight.hpp"

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

bool permits_any_command(const model::AllowList& allow) {
    const std::string_view check = name_of(model::CheckId::kubelet_drop_in);
    return std::ranges::find(allow.ignored_checks, check) != allow.ignored_checks.end();
}

Result<> may_apply_for(const std::string& owner, bool is_known, std::uint32_t user) {
    TRY(may_change_objects_of(owner, user));
    if (user != 0 || is_known || !model::is_machine_owner(owner)) return {};
    return fail(Code::denied,
                fmt::format("plan.owner {}: names that begin with {} are kubexmd's; choose another",
                            printable(owner), model::kMachinePrefix));
}

Result<> may_change_objects_of(const std::string& owner, std::uint32_t user) {
    if (user == 0 || model::is_machine_owner(owner)) return {};
    return refusal("owners", Code::denied,
                   fmt::format("owner {}: expected {}..., other owners are root's",
                               printable(owner), model::kMachinePrefix));
}

}  // namespace kubexm::executor
