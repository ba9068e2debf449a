#include "daemon/executor/steps/new_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

namespace kubexm::executor::new_objects {

namespace {

using Known = std::set<std::string>;

// The names of iptables itself.
constexpr std::array<std::string_view, 5> kTables{"filter", "nat", "mangle", "raw", "security"};
constexpr std::array<std::string_view, 5> kHooks{"PREROUTING", "INPUT", "FORWARD", "OUTPUT",
                                                 "POSTROUTING"};

std::string key(const FilterTable& table) { return fmt::format("{} {}", table.family, table.name); }
std::string key(const FilterChain& chain) {
    return fmt::format("{} {} {}", chain.family, chain.table, chain.name);
}
std::string chain_key(const FilterRule& rule) {
    return fmt::format("{} {} {}", rule.family, rule.table, rule.chain);
}
std::string jump_key(const FilterRule& rule) {
    return fmt::format("{} {} {}", rule.family, rule.table, rule.jump);
}

bool is_from_kubernetes(const FilterChain& chain) {
    return !chain.base && (chain.name.starts_with("KUBE-") || chain.name.starts_with("CNI-"));
}

bool is_from_iptables(const FilterTable& table) {
    return std::ranges::find(kTables, table.name) != kTables.end();
}

bool is_from_iptables(const FilterChain& chain) {
    return chain.base && chain.accepts && std::ranges::find(kHooks, chain.name) != kHooks.end() &&
           is_from_iptables(FilterTable{chain.family, chain.table});
}

/// The chains with a rule that is not a jump to a removed chain.
Known with_foreign_rules(const Ruleset& now, const Known& going) {
    Known chains;
    for (const FilterRule& rule : now.rules) {
        if (!going.contains(jump_key(rule))) chains.insert(chain_key(rule));
    }
    return chains;
}

/// Whether everything in a table is a removed chain.
bool becomes_empty(const FilterTable& table, const std::vector<FilterChain>& going) {
    const auto inside = std::ranges::count_if(going, [&](const FilterChain& chain) {
        return chain.family == table.family && chain.table == table.name;
    });
    return static_cast<std::uint64_t>(inside) == table.uses;
}

}  // namespace

Names newer(const Names& now, const Names& before) {
    const Known known(before.begin(), before.end());
    Names found;
    std::ranges::copy_if(now, std::back_inserter(found),
                         [&](const std::string& name) { return !known.contains(name); });
    return found;
}

Names links(const Names& now, const Names& before, const Names& allowed) {
    Names found = newer(now, before);
    std::erase_if(found, [&](const std::string& name) {
        return std::ranges::find(allowed, name) == allowed.end();
    });
    return found;
}

Names slices(const Names& now, const Names& before) {
    Names found = newer(now, before);
    std::erase_if(found, [](const std::string& name) {
        return name != "kubepods.slice" &&
               !(name.starts_with("kubepods-") && name.ends_with(".slice"));
    });
    // The name of a slice begins with the name of the slice around it.
    std::ranges::sort(found, std::less(), &std::string::size);
    return found;
}

Names names_of(const Ruleset& ruleset) {
    Names names;
    for (const FilterTable& table : ruleset.tables) names.push_back(key(table));
    for (const FilterChain& chain : ruleset.chains) names.push_back(key(chain));
    return names;
}

Ruleset filters(const Ruleset& now, const Names& before) {
    const Known old(before.begin(), before.end());
    Ruleset removed{.generation = now.generation, .tables = {}, .chains = {}, .rules = {}};
    Known names;
    for (const FilterChain& chain : now.chains) {
        if (old.contains(key(chain)) || !is_from_kubernetes(chain)) continue;
        removed.chains.push_back(chain);
        names.insert(key(chain));
    }
    const Known foreign = with_foreign_rules(now, names);
    for (const FilterRule& rule : now.rules) {
        if (names.contains(jump_key(rule)) && !names.contains(chain_key(rule))) {
            removed.rules.push_back(rule);
        }
    }
    for (const FilterChain& chain : now.chains) {
        if (old.contains(key(chain)) || !is_from_iptables(chain)) continue;
        if (!foreign.contains(key(chain))) removed.chains.push_back(chain);
    }
    for (const FilterTable& table : now.tables) {
        if (old.contains(key(table)) || !is_from_iptables(table)) continue;
        if (becomes_empty(table, removed.chains)) removed.tables.push_back(table);
    }
    return removed;
}

}  // namespace kubexm::executor::new_objects
