#pragma once

#include <string>
#include <vector>

#include "daemon/executor/host/packet_filter.hpp"

// Which side-effects go with undo. Pure: what is there now and what was there before come in.
// Private to this module.

namespace kubexm::executor::new_objects {

using Names = std::vector<std::string>;

/// What is there now and was not before.
Names newer(const Names& now, const Names& before);

/// New links that root listed.
Names links(const Names& now, const Names& before, const Names& allowed);

/// New slices of pods, those first that others are in: stopping one stops at once all that is in
/// it.
Names slices(const Names& now, const Names& before);

/// Everything in the packet filter, as an image keeps it: "ip nat", "ip nat KUBE-SERVICES".
Names names_of(const Ruleset& ruleset);

/// New chains that Kubernetes and CNI plugins make, the jumps to them, and what iptables had to
/// make for them (tables and base chains) and holds nothing else.
Ruleset filters(const Ruleset& now, const Names& before);

}  // namespace kubexm::executor::new_objects
