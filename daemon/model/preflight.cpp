#include "daemon/model/preflight.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kubexm::model {

Result<> without_errors(const std::vector<Finding>& findings) {
    std::vector<std::string> errors;
    for (const Finding& each : findings) {
        if (each.severity != Severity::error) continue;
        errors.push_back(fmt::format("{}: expected {}, found {}; {}", name_of(each.id), each.needed,
                                     each.found, each.remedy));
    }
    if (errors.empty()) return {};
    return fail(Code::conflict,
                fmt::format("this host is not ready for a join: {}", fmt::join(errors, ". ")));
}

}  // namespace kubexm::model
