#pragma once

#include <string>
#include <vector>

#include "daemon/executor/host/packet_filter.hpp"
#include "daemon/executor/steps/families.hpp"

// Which side effects undo removes, from the objects that exist now and those that existed before.
// Pure; private to this module.

namespace kubexm::executor::new_objects {

/// The names in `now` that are not in `before`.
ObjectNames newer(const ObjectNames& now, const ObjectNames& before);

/// The first few names, and how many more there are; none: an empty text.
std::string listed(const ObjectNames& names);

/// Objects that are new: those that go, and those that no family knows, which stay.
struct Division {
    ObjectNames going;
    ObjectNames staying;
};
/// `known` names those that go.
Division divide(const ObjectNames& now, const ObjectNames& before, const ObjectNames& known);

/// The text of undo about objects that stay.
std::string not_ours(const ObjectNames& staying);

/// New slices of pods, outer ones first: stopping a slice stops everything in it.
ObjectNames slices(const ObjectNames& now, const ObjectNames& before);

/// For the pre-image: tables and chains ("ip nat", "ip nat KUBE-SERVICES"), and the comments of
/// families' rules in chains of others.
ObjectNames names_of(const Ruleset& ruleset, const families::Patterns& known);

/// New tables, chains and rules of families, the jumps to them, and the tables and base chains that
/// iptables made for them and that hold nothing else.
Ruleset filters(const Ruleset& now, const ObjectNames& before, const families::Patterns& known);

/// New tables and chains that stay when `going` is removed.
ObjectNames staying_filters(const Ruleset& now, const ObjectNames& before, const Ruleset& going);

}  // namespace kubexm::executor::new_objects
