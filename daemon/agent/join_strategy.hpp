#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/agent/activity.hpp"
#include "daemon/agent/memory.hpp"
#include "daemon/agent/on_behalf_of.hpp"
#include "daemon/agent/secret_reader.hpp"
#include "daemon/kube/kubeconfig.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

/// One join: its orders, owner and inputs.
struct JoinRequest {
    std::string owner;
    model::HostRecord host;  // with the machine
    std::string from;        // adopt: the owner of the node until now
    std::optional<model::OnBehalfOf> on_behalf_of;
};

/// How this host becomes a node, how its Node is watched, and how it leaves: one for each joinMode
/// of a ByoHost. Has no state.
class JoinStrategy {
public:
    virtual ~JoinStrategy() = default;

    /// Ends when the plan of the join is done. Also applies changed orders to a joined node.
    virtual std::unique_ptr<Activity<void>> join(AgentContext& context, ManagementApi management,
                                                 JoinRequest request,
                                                 Activity<void>::Done done) const = 0;

    /// With these the Node is watched, labelled and deleted. Nothing: this owner has none.
    virtual Result<std::optional<kube::ClusterCredentials>> node_credentials(
        const AgentContext& context, const std::string& owner) const = 0;

    /// Undoes the join and removes the Node.
    virtual std::unique_ptr<Activity<Freed>> leave(AgentContext& context, const std::string& owner,
                                                   std::optional<model::OnBehalfOf> on_behalf_of,
                                                   Activity<Freed>::Done done) const;
};

/// For spec.joinMode of a ByoHost; null: not supported.
const JoinStrategy* find_strategy(std::string_view join_mode);

/// Of an owner's node on this host. A node that kubexmd does not remember was joined by TLS
/// bootstrap.
std::string join_mode_of(const AgentState& state, const std::string& owner);
const JoinStrategy& strategy_of(const AgentState& state, const std::string& owner);

}  // namespace kubexm::agent
