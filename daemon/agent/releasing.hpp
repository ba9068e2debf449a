#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/agent/context.hpp"
#include "daemon/agent/plan_run.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

/// Releases the host: undoes the ledger of the owner, then deletes the Node, or marks it not Ready
/// where this host is not permitted to. The Reconciler then frees the ByoHost and only after that
/// removes the node's credentials: after a kill everything can be repeated.
class Releasing {
public:
    /// A message for the ByoHost's condition where the Node remains, else empty.
    using Done = std::move_only_function<void(Result<std::string>)>;
    Releasing(AgentContext& context, std::string owner, Done done);
    void start();

private:
    void on_undone(const Result<>& outcome);
    void find_node();
    void delete_node(const nlohmann::json& object);
    void mark_not_ready(const nlohmann::json& object, const std::string& why);
    void finish(Result<std::string> outcome);

    AgentContext& context_;
    std::string owner_;
    Done done_;
    std::unique_ptr<PlanRun> run_;
    std::unique_ptr<kube::Api> api_;
    kube::Api::Handle call_;
    LifetimeGuard lifetime_;
};

}  // namespace kubexm::agent
