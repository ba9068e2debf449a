#include "daemon/agent/conditions.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace kubexm::agent {

using model::Condition;
using model::ConditionStatus;

Condition is_true(std::string_view type, std::string message) {
    return {std::string(type), ConditionStatus::yes, "", "", std::move(message), ""};
}

Condition is_false(std::string_view type, std::string_view severity, std::string_view reason,
                   std::string message) {
    return {std::string(type),   ConditionStatus::no, std::string(severity),
            std::string(reason), std::move(message),  ""};
}

Condition is_unknown(std::string_view type, std::string_view reason, std::string message) {
    return {std::string(type),   ConditionStatus::unknown, "",
            std::string(reason), std::move(message),       ""};
}

bool put(std::vector<Condition>& list, Condition condition, std::string_view now) {
    condition.since = now;
    const auto place = std::ranges::lower_bound(list, condition.type, {}, &Condition::type);
    if (place == list.end() || place->type != condition.type) {
        list.insert(place, std::move(condition));
        return true;
    }
    if (place->status == condition.status) condition.since = place->since;
    if (*place == condition) return false;
    *place = std::move(condition);
    return true;
}

std::string rfc3339(std::chrono::system_clock::time_point time) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                       fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

}  // namespace kubexm::agent
