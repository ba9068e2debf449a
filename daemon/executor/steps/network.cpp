// Chains of the packet filter, and links.

#include <fmt/format.h>

#include "daemon/base/try.hpp"
#include "daemon/executor/host/links.hpp"
#include "daemon/executor/host/packet_filter.hpp"
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

}  // namespace

Result<Names> chains(Context&) {
    const auto ruleset = TRY(list_ruleset());
    return new_objects::names_of(ruleset);
}

Result<std::string> remove_chains(Context& context, const Names& before) {
    for (int round = 0; round < kRounds; ++round) {
        const auto now = TRY(list_ruleset());
        const Ruleset going = new_objects::filters(now, before);
        if (going.chains.empty() && going.tables.empty()) return unchecked_tables(context);
        auto done = remove_from_filter(going);
        if (!done && done.error().code != Code::conflict) return std::unexpected(done.error());
    }
    return fail(Code::conflict,
                "packet filters keep changing: stop the process that writes rules (kube-proxy, a "
                "CNI plugin), "
                "then undo again");
}

Result<Names> links(Context&) { return list_links(); }

Result<std::string> remove_links(Context& context, const Names& before) {
    const auto now = TRY(list_links());
    for (const std::string& name : new_objects::links(now, before, context.links)) {
        TRY(delete_link(name));
    }
    return std::string();
}

}  // namespace kubexm::executor::side_effects
