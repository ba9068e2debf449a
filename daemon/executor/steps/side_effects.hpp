#pragma once

#include <string>
#include <vector>

#include "daemon/executor/steps/context.hpp"

// What is there of each kind of side-effects, by names that an image keeps, and taking away what is
// new. Private to this module. Every removal can be repeated, and returns what had to stay, in
// words.

namespace kubexm::executor::side_effects {

using Names = std::vector<std::string>;

constexpr std::size_t kMostNames = 4000;  // what the ledger takes for one image
constexpr int kRounds = 5;                // what was on its way when kubelet ended may still appear

Result<Names> pods(Context& context);
Result<std::string> remove_pods(Context& context, const Names& before);

Result<Names> chains(Context& context);
Result<std::string> remove_chains(Context& context, const Names& before);

Result<Names> links(Context& context);
Result<std::string> remove_links(Context& context, const Names& before);

Result<Names> groups(Context& context);
Result<std::string> remove_groups(Context& context, const Names& before);

}  // namespace kubexm::executor::side_effects
