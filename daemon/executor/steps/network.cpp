// Chains and sets of the packet filter, links, and routes.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "daemon/base/try.hpp"
#include "daemon/executor/host/ip_sets.hpp"
#include "daemon/executor/host/kernel_routes.hpp"
#include "daemon/executor/host/links.hpp"
#include "daemon/executor/host/packet_filter.hpp"
#include "daemon/executor/steps/families.hpp"
#include "daemon/executor/steps/new_objects.hpp"
#include "daemon/executor/steps/side_effects.hpp"

namespace kubexm::executor::side_effects {

namespace {

Result<std::string> unchecked_tables(Context& context) {
    const auto tables = TRY(legacy_tables(context.root));
    if (tables.empty()) return std::string();
    return fmt::format(
        "legacy iptables tables ({}) were not checked: list their chains with "
        "iptables-legacy-save and ip6tables-legacy-save",
        fmt::join(tables, ", "));
}

std::string joined(const std::string& one, const std::string& other) {
    return one.empty() || other.empty() ? one + other : fmt::format("{}; {}", one, other);
}

/// RTPROT_BOOT: the route does not say which program added it. Such routes are named, not removed.
constexpr const char* kUnknown = "3";

Result<std::vector<KernelRoute>> routes_of(const std::string& protocol, const std::string& link) {
    std::uint8_t number = 0;
    const char* end = protocol.data() + protocol.size();
    if (std::from_chars(protocol.data(), end, number).ptr != end) {
        return fail(Code::invalid, "family: protocol: expected a number below 256");
    }
    return list_routes(number, link);
}

Result<std::vector<KernelRoute>> routes_of_families() {
    const auto known = TRY(families::known());
    std::vector<KernelRoute> found;
    for (const families::RouteFact& fact : known.routes) {
        const auto some = TRY(routes_of(fact.protocol, fact.link.value_or("")));
        found.insert(found.end(), some.begin(), some.end());
    }
    return found;
}

ObjectNames names_of(const std::vector<KernelRoute>& routes) {
    ObjectNames names;
    for (const KernelRoute& route : routes) names.push_back(route.name);
    return names;
}

}  // namespace

Result<ObjectNames> chains(Context&) {
    const auto known = TRY(families::known());
    const auto ruleset = TRY(list_ruleset());
    return new_objects::names_of(ruleset, known);
}

Result<std::string> remove_chains(Context& context, const ObjectNames& before) {
    const auto known = TRY(families::known());
    for (int round = 0; round < kRounds; ++round) {
        const auto now = TRY(list_ruleset());
        const Ruleset going = new_objects::filters(now, before, known);
        if (going.chains.empty() && going.tables.empty() && going.rules.empty()) {
            const auto staying = new_objects::staying_filters(now, before, going);
            return joined(new_objects::not_ours(staying), TRY(unchecked_tables(context)));
        }
        auto done = remove_from_filter(going);
        if (!done && done.error().code != Code::conflict) return std::unexpected(done.error());
    }
    return fail(Code::conflict,
                "packet filters keep changing: stop the process that writes rules (kube-proxy, a "
                "CNI plugin), "
                "then undo again");
}

Result<ObjectNames> sets(Context& context) { return list_ip_sets(context.root); }

Result<std::string> remove_sets(Context& context, const ObjectNames& before) {
    const auto known = TRY(families::known());
    const auto now = TRY(list_ip_sets(context.root));
    auto [going, staying] = new_objects::divide(now, before, known.sets);
    for (const std::string& name : going) {
        if (!delete_ip_set(name)) staying.push_back(name);  // a rule of another program uses it
    }
    return new_objects::not_ours(staying);
}

Result<ObjectNames> links(Context&) { return list_links(); }

Result<std::string> remove_links(Context& context, const ObjectNames& before) {
    auto known = TRY(families::known()).links;
    known.insert(known.end(), context.links.begin(), context.links.end());
    const auto now = TRY(list_links());
    const auto [going, staying] = new_objects::divide(now, before, known);
    for (const std::string& name : going) TRY(delete_link(name));
    return new_objects::not_ours(staying);
}

Result<ObjectNames> routes(Context&) {
    auto names = names_of(TRY(routes_of_families()));
    for (const KernelRoute& route : TRY(routes_of(kUnknown, ""))) names.push_back(route.name);
    return names;
}

Result<std::string> remove_routes(Context&, const ObjectNames& before) {
    const auto now = TRY(routes_of_families());
    const ObjectNames going = new_objects::newer(names_of(now), before);
    for (const KernelRoute& route : now) {
        if (std::ranges::find(going, route.name) != going.end()) TRY(delete_route(route));
    }
    const auto others = TRY(routes_of(kUnknown, ""));
    return new_objects::not_ours(new_objects::newer(names_of(others), before));
}

}  // namespace kubexm::executor::side_effects
