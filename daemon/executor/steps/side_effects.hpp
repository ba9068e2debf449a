#pragma once

#include <string>
#include <vector>

#include "daemon/executor/steps/context.hpp"

// For each kind of side effect: the names of the objects that exist, for the pre-image, and the
// removal of the new ones. Every removal can be repeated, and returns what stays, as text. Private
// to this module.

namespace kubexm::executor::side_effects {

using Names = std::vector<std::string>;

constexpr std::size_t kMostNames = 4000;  // of one pre-image in the ledger
constexpr int kRounds = 5;  // objects may still appear shortly after kubelet has stopped

Result<Names> pods(Context& context);
Result<std::string> remove_pods(Context& context, const Names& before);

Result<Names> chains(Context& context);
Result<std::string> remove_chains(Context& context, const Names& before);

Result<Names> sets(Context& context);
Result<std::string> remove_sets(Context& context, const Names& before);

Result<Names> links(Context& context);
Result<std::string> remove_links(Context& context, const Names& before);

Result<Names> routes(Context& context);
Result<std::string> remove_routes(Context& context, const Names& before);

Result<Names> network_files(Context& context);
Result<std::string> remove_network_files(Context& context, const Names& before);

Result<Names> groups(Context& context);
Result<std::string> remove_groups(Context& context, const Names& before);

}  // namespace kubexm::executor::side_effects
