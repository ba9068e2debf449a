#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "daemon/agent/context.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/kube/watch.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

/// Watches this host's Node with the node's own certificate.
class NodeMonitor {
public:
    struct Listener {
        /// The Node where it is valid and Ready, else why it is not.
        std::function<void(const Result<model::NodeRecord>&)> on_node;
        /// The API server does not answer: the state of the Node is unknown.
        std::function<void(const Error&)> on_unreachable;
    };
    NodeMonitor(AgentContext& context, std::string owner, Listener listener);

    /// not_found: no certificate is stored for the owner.
    Result<> start();

private:
    void on_object(const nlohmann::json& object);

    AgentContext& context_;
    std::string owner_;
    Listener listener_;
    std::unique_ptr<kube::Api> api_;
    std::unique_ptr<kube::Watch> watch_;
};

/// Whether a Node has this host's machine-id and provider ID, and is Ready. Pure.
Result<> verify(const model::NodeRecord& node, const model::HostFacts& facts);

}  // namespace kubexm::agent
