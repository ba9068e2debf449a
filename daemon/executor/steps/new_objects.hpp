#pragma once

#include <string>
#include <vector>

#include "daemon/executor/host/packet_filter.hpp"

// Which side effects undo removes, from the objects that exist now and those that existed before.
// Pure; private to this module.

namespace kubexm::executor::new_objects {

using Names = std::vector<std::string>;

/// The names in `now` that are not in `before`.
Names newer(const Names& now, const Names& before);

/// New links that root's allow-list names.
Names links(const Names& now, const Names& before, const Names& allowed);

/// New slices of pods, outer ones first: stopping a slice stops everything in it.
Names slices(const Names& now, const Names& before);

/// Tables and chains for the pre-image: "ip nat", "ip nat KUBE-SERVICES".
Names names_of(const Ruleset& ruleset);

/// New chains of Kubernetes and CNI plugins, the jumps to them, and the tables and base chains that
/// iptables made for them and that hold nothing else.
Ruleset filters(const Ruleset& now, const Names& before);

}  // namespace kubexm::executor::new_objects
