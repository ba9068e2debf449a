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

/// Watches the Node with the node's own certificate, for as long as the host is one.
class NodeMonitor {
public:
    struct Listener {
        /// The Node as it is now: ours and Ready, or why not.
        std::function<void(const Result<model::NodeRecord>&)> on_node;
        /// Nobody tells how it is.
        std::function<void(const Error&)> on_silence;
    };
    NodeMonitor(AgentContext& context, std::string owner, Listener listener);

    /// not_found: no certificate is kept for the owner.
    Result<> start();

private:
    void on_object(const nlohmann::json& object);

    AgentContext& context_;
    std::string owner_;
    Listener listener_;
    std::unique_ptr<kube::Api> api_;
    std::unique_ptr<kube::Watch> watch_;
};

/// Whether a Node is this host's, with the provider ID it was given, and Ready. Pure.
Result<> verify(const model::NodeRecord& node, const model::HostFacts& facts);

}  // namespace kubexm::agent
