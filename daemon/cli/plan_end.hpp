#pragma once

#include <span>
#include <string>

#include "daemon/cli/client.hpp"

namespace kubexm::cli {

/// The id of the plan that a request begins or ends.
Result<std::string> accepted_id(Client& client, const wire::Request& request,
                                std::span<const int> descriptors);

/// Shows the steps of a plan to its end, and the objects that stay.
Result<wire::PlanSummary> show_to_end(Client& client, const std::string& id);

/// Undoes everything on the host that belongs to an owner, and shows it.
Result<wire::PlanSummary> undo_owner(Client& client, const std::string& owner);

}  // namespace kubexm::cli
