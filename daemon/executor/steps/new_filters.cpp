// Which parts of the packet filter undo removes.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "daemon/executor/steps/new_objects.hpp"

namespace kubexm::executor::new_objects {

namespace {

using families::Patterns;
using Known = std::set<std::string>;

// The names of iptables itself.
constexpr std::array<std::string_view, 5> kTables{"filter", "nat", "mangle", "raw", "security"};
constexpr std::array<std::string_view, 5> kHooks{"PREROUTING", "INPUT", "FORWARD", "OUTPUT",
                                                 "POSTROUTING"};

std::string key(const FilterTable& table) { return fmt::format("{} {}", table.family, table.name); }
std::string key(const FilterChain& chain) {
    return fmt::format("{} {} {}", chain.family, chain.table, chain.name);
}
std::string table_key(const FilterChain& chain) {
    return fmt::format("{} {}", chain.family, chain.table);
}
std::string chain_key(const FilterRule& rule) {
    return fmt::format("{} {} {}", rule.family, rule.table, rule.chain);
}
std::string jump_key(const FilterRule& rule) {
    return fmt::format("{} {} {}", rule.family, rule.table, rule.jump);
}
/// The handle of a rule differs after a reboot.
std::string key(const FilterRule& rule) {
    return fmt::format("{} \"{}\"", chain_key(rule), rule.comment);
}

bool is_from_iptables(const FilterTable& table) {
    return (table.family == "ip" || table.family == "ip6") &&
           std::ranges::find(kTables, table.name) != kTables.end();
}

bool is_from_iptables(const FilterChain& chain) {
    return chain.base && chain.accepts && std::ranges::find(kHooks, chain.name) != kHooks.end() &&
           is_from_iptables(FilterTable{chain.family, chain.table});
}

/// Chains that other software has with names of a family, and the chains they lead to.
Known chains_of_others(const Ruleset& now, const Patterns& known) {
    Known chains;
    for (const FilterChain& chain : now.chains) {
        if (families::has(known.others, chain.name)) chains.insert(key(chain));
    }
    for (const FilterRule& rule : now.rules) {
        if (!families::has(known.others, rule.comment)) continue;
        chains.insert(chain_key(rule));
        chains.insert(jump_key(rule));
    }
    for (const FilterChain& chain : now.chains) {
        if (chain.base) chains.erase(key(chain));  // everybody's rules are in it
    }
    for (std::size_t count = 0; count != chains.size();) {
        count = chains.size();
        for (const FilterRule& rule : now.rules) {
            if (chains.contains(chain_key(rule))) chains.insert(jump_key(rule));
        }
    }
    return chains;
}

/// The tables, chains and rules that go by their own names.
class Selection {
public:
    Selection(const Ruleset& now, const ObjectNames& before, const Patterns& known)
        : known_(known), old_(before.begin(), before.end()), others_(chains_of_others(now, known)) {
        for (const FilterTable& table : now.tables) {
            if (takes(table)) tables_.insert(key(table));
        }
        for (const FilterChain& chain : now.chains) {
            if (takes(chain)) chains_.insert(key(chain));
        }
    }

    bool is_new(const auto& part) const { return !old_.contains(key(part)); }
    bool has(const FilterTable& table) const { return tables_.contains(key(table)); }
    /// Not the chains in a table that goes.
    bool has(const FilterChain& chain) const { return chains_.contains(key(chain)); }
    /// Only rules in chains that stay.
    bool has(const FilterRule& rule) const {
        if (chains_.contains(chain_key(rule))) return false;
        if (chains_.contains(jump_key(rule))) return true;
        return families::has(known_.comments, rule.comment) && is_new(rule);
    }

private:
    bool takes(const FilterTable& table) const {
        return is_new(table) && families::has(known_.tables, key(table));
    }
    bool takes(const FilterChain& chain) const {
        return is_new(chain) && !chain.base && !others_.contains(key(chain)) &&
               is_from_iptables(FilterTable{chain.family, chain.table}) &&
               families::has(known_.chains, chain.name);
    }

    const Patterns& known_;
    Known old_;
    Known others_;
    Known tables_;
    Known chains_;
};

/// The chains that keep a rule.
Known with_other_rules(const Ruleset& now, const Selection& going) {
    Known chains;
    for (const FilterRule& rule : now.rules) {
        if (!going.has(rule)) chains.insert(chain_key(rule));
    }
    return chains;
}

/// Whether everything in a table is a removed chain.
bool becomes_empty(const FilterTable& table, const std::vector<FilterChain>& going) {
    const auto inside = std::ranges::count_if(
        going, [&](const FilterChain& chain) { return table_key(chain) == key(table); });
    return static_cast<std::uint64_t>(inside) == table.uses;
}

template <typename Part>
Known keys_of(const std::vector<Part>& parts) {
    Known keys;
    for (const Part& part : parts) keys.insert(key(part));
    return keys;
}

}  // namespace

ObjectNames names_of(const Ruleset& ruleset, const Patterns& known) {
    ObjectNames names;
    for (const FilterTable& table : ruleset.tables) names.push_back(key(table));
    for (const FilterChain& chain : ruleset.chains) names.push_back(key(chain));
    Known rules;
    for (const FilterRule& rule : ruleset.rules) {
        if (families::has(known.comments, rule.comment)) rules.insert(key(rule));
    }
    names.insert(names.end(), rules.begin(), rules.end());
    return names;
}

Ruleset filters(const Ruleset& now, const ObjectNames& before, const Patterns& known) {
    const Selection going(now, before, known);
    const Known kept = with_other_rules(now, going);
    Ruleset removed{.generation = now.generation, .tables = {}, .chains = {}, .rules = {}};
    std::ranges::copy_if(now.rules, std::back_inserter(removed.rules),
                         [&](const FilterRule& rule) { return going.has(rule); });
    for (const FilterChain& chain : now.chains) {
        const bool is_rest =
            going.is_new(chain) && is_from_iptables(chain) && !kept.contains(key(chain));
        if (going.has(chain) || is_rest) removed.chains.push_back(chain);
    }
    for (const FilterTable& table : now.tables) {
        const bool is_rest =
            going.is_new(table) && is_from_iptables(table) && becomes_empty(table, removed.chains);
        if (going.has(table) || is_rest) removed.tables.push_back(table);
    }
    return removed;
}

ObjectNames staying_filters(const Ruleset& now, const ObjectNames& before, const Ruleset& going) {
    const Known old(before.begin(), before.end());
    const Known tables = keys_of(going.tables);
    const Known chains = keys_of(going.chains);
    ObjectNames staying;
    for (const FilterTable& table : now.tables) {
        if (old.contains(key(table)) || is_from_iptables(table)) continue;
        if (!tables.contains(key(table))) staying.push_back(key(table));
    }
    for (const FilterChain& chain : now.chains) {
        const bool is_named = old.contains(table_key(chain)) ||
                              is_from_iptables(FilterTable{chain.family, chain.table});
        if (!is_named || old.contains(key(chain)) || is_from_iptables(chain)) continue;
        if (!chains.contains(key(chain))) staying.push_back(key(chain));
    }
    return staying;
}

}  // namespace kubexm::executor::new_objects
