#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/host/files.hpp"

namespace kubexm::executor {

// nf_tables of IPv4 and IPv6, where iptables keeps its rules as well on all but old hosts.

struct FilterTable {
    std::string family;  // "ip", "ip6"
    std::string name;
    std::uint32_t uses = 0;  // chains, sets and everything else in it

    bool operator==(const FilterTable&) const = default;
};

struct FilterChain {
    std::string family;
    std::string table;
    std::string name;
    bool base = false;     // packets come to it by themselves
    bool accepts = false;  // a base chain: what no rule decides

    bool operator==(const FilterChain&) const = default;
};

struct FilterRule {
    std::string family;
    std::string table;
    std::string chain;
    std::uint64_t handle = 0;
    std::string jump;  // the chain it leads to, if any

    bool operator==(const FilterRule&) const = default;
};

struct Ruleset {
    std::uint32_t generation = 0;  // another after every change by anybody
    std::vector<FilterTable> tables;
    std::vector<FilterChain> chains;
    std::vector<FilterRule> rules;

    bool operator==(const Ruleset&) const = default;
};

/// Empty on a kernel without nf_tables. conflict: it changes while it is read.
Result<Ruleset> list_ruleset();

/// Takes rules, chains with their rules, and tables away, all or nothing. conflict: the rules are
/// no longer those of `going.generation`.
Result<> remove_from_filter(const Ruleset& going);

/// The tables of iptables as it was before nf_tables, whose content only its own tools can tell:
/// "IPv4 nat", ...
Result<std::vector<std::string>> legacy_tables(const Root& root);

}  // namespace kubexm::executor
