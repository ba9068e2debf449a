#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/host/files.hpp"

namespace kubexm::executor {

// nf_tables. iptables-nft, the default of current distributions, stores its rules there as well.

struct FilterTable {
    std::string family;  // "ip", "ip6", "inet", ...
    std::string name;
    std::uint32_t uses = 0;  // chains, sets and everything else in it

    bool operator==(const FilterTable&) const = default;
};

struct FilterChain {
    std::string family;
    std::string table;
    std::string name;
    bool base = false;     // attached to a hook
    bool accepts = false;  // the policy of a base chain is accept

    bool operator==(const FilterChain&) const = default;
};

struct FilterRule {
    std::string family;
    std::string table;
    std::string chain;
    std::uint64_t handle = 0;
    std::string jump;     // target chain of a jump or goto
    std::string comment;  // as iptables stores it

    bool operator==(const FilterRule&) const = default;
};

struct Ruleset {
    std::uint32_t generation = 0;  // the kernel increments it with every change
    std::vector<FilterTable> tables;
    std::vector<FilterChain> chains;
    std::vector<FilterRule> rules;

    bool operator==(const Ruleset&) const = default;
};

/// Empty on a kernel without nf_tables. conflict: the rules changed meanwhile.
Result<Ruleset> list_ruleset();

/// Removes rules, chains with their rules, and tables with everything in them, all or nothing.
/// conflict: the generation is no longer that of `going`, or an object is in use.
Result<> remove_from_filter(const Ruleset& going);

/// The tables of iptables-legacy, whose content only iptables-legacy can list: "IPv4 nat", ...
Result<std::vector<std::string>> legacy_tables(const Root& root);

}  // namespace kubexm::executor
