#pragma once

#include <string>

#include "daemon/agent/context.hpp"
#include "daemon/base/secret.hpp"

namespace kubexm::agent {

/// Certificate and key of kubelet's server in one PEM, signed with its own key: without them
/// kubelet would make two RSA keys at its first start, which takes longer than the start itself.
/// From the store, so that an owner always gets the same pair.
Result<Secret> serving_pair(const AgentContext& context, const std::string& owner);

/// The file of an owner in the store.
inline std::string serving_file_of(const std::string& owner) { return owner + ".serving"; }

}  // namespace kubexm::agent
