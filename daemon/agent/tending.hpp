#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "daemon/agent/world.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/kube/watch.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

/// Watches the Node with the node's own certificate, for as long as the host is one.
class Tending {
public:
    /// What is known of the Node now: it is ours and Ready, or why not.
    using OnNode = std::function<void(const Result<model::NodeRecord>&)>;
    Tending(World& world, std::string owner, OnNode on_node);

    /// not_found: no certificate is kept for the owner.
    Result<> start();

private:
    void on_object(const nlohmann::json& object);

    World& world_;
    std::string owner_;
    OnNode on_node_;
    std::unique_ptr<kube::Api> api_;
    std::unique_ptr<kube::Watch> watch_;
};

/// Whether a Node is this host's, with the provider ID it was given, and Ready. Pure.
Result<> verify(const model::NodeRecord& node, const model::HostFacts& facts);

}  // namespace kubexm::agent
