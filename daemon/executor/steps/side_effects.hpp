#pragma once

#include <string>
#include <vector>

#include "daemon/executor/steps/context.hpp"
#include "daemon/executor/steps/pre_image.hpp"

// For each kind of side effect: the names of the objects that exist, for the pre-image, and the
// removal of the new ones. Every removal can be repeated, and returns the objects that stay, as
// text. Private to this module.

namespace kubexm::executor::side_effects {

constexpr std::size_t kMostNames = 4000;  // of one pre-image in the ledger
constexpr int kRounds = 5;  // objects may still appear shortly after kubelet has stopped

Result<ObjectNames> pods(Context& context);
Result<std::string> remove_pods(Context& context, const ObjectNames& before);

Result<ObjectNames> chains(Context& context);
Result<std::string> remove_chains(Context& context, const ObjectNames& before);

Result<ObjectNames> sets(Context& context);
Result<std::string> remove_sets(Context& context, const ObjectNames& before);

Result<ObjectNames> links(Context& context);
Result<std::string> remove_links(Context& context, const ObjectNames& before);

Result<ObjectNames> routes(Context& context);
Result<std::string> remove_routes(Context& context, const ObjectNames& before);

Result<ObjectNames> network_files(Context& context);
Result<std::string> remove_network_files(Context& context, const ObjectNames& before);

Result<ObjectNames> groups(Context& context);
Result<std::string> remove_groups(Context& context, const ObjectNames& before);

}  // namespace kubexm::executor::side_effects
