#include "daemon/model/permits.hpp"

#include <algorithm>

namespace kubexm::model {

namespace {

Permit permit_of(const std::vector<std::string>& list) {
    if (list.empty()) return Permit::none;
    return std::ranges::find(list, "*") != list.end() ? Permit::any : Permit::listed;
}

}  // namespace

Permits permits_of(const AllowList& allow) {
    return {permit_of(allow.clusters), permit_of(allow.registries)};
}

}  // namespace kubexm::model
