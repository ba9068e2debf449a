// Chains of the packet filter, and links.

#include <fmt/format.h>

#include "daemon/executor/host/links.hpp"
#include "daemon/executor/host/packet_filter.hpp"
#include "daemon/executor/steps/new_objects.hpp"
#include "daemon/executor/steps/side_effects.hpp"

namespace kubexm::executor::side_effects {

namespace {

Result<std::string> chains_that_stay(Context& context) {
    auto tables = legacy_tables(context.root);
    if (!tables) return std::unexpected(tables.error());
    if (tables->empty()) return std::string();
    return fmt::format(
        "legacy tables of iptables cannot be looked into ({}): iptables-legacy-save "
        "and ip6tables-legacy-save tell which chains of theirs stay",
        fmt::join(*tables, ", "));
}

}  // namespace

Result<Names> chains(Context&) {
    auto ruleset = list_ruleset();
    if (!ruleset) return std::unexpected(ruleset.error());
    return new_objects::names_of(*ruleset);
}

Result<std::string> remove_chains(Context& context, const Names& before) {
    for (int round = 0; round < kRounds; ++round) {
        auto now = list_ruleset();
        if (!now) return std::unexpected(now.error());
        const Ruleset going = new_objects::filters(*now, before);
        if (going.chains.empty() && going.tables.empty()) return chains_that_stay(context);
        auto done = remove_from_filter(going);
        if (!done && done.error().code != Code::conflict) return std::unexpected(done.error());
    }
    return fail(Code::conflict, "packet filters keep changing: who writes them?");
}

Result<Names> links(Context&) { return list_links(); }

Result<std::string> remove_links(Context& context, const Names& before) {
    auto now = list_links();
    if (!now) return std::unexpected(now.error());
    for (const std::string& name : new_objects::links(*now, before, context.links)) {
        if (auto done = delete_link(name); !done) return std::unexpected(done.error());
    }
    return std::string();
}

}  // namespace kubexm::executor::side_effects
