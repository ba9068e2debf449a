#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/agent/context.hpp"
#include "daemon/agent/plan_run.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

/// Gives the host back: undo from the ledger, then the Node object where the node may delete it;
/// else that Node is at least not Ready any more.
/// The ByoHost is freed by others, after this, and the node's credentials are kept until then: who
/// is killed before does all of it again, and can tell again what became of the Node.
class Releasing {
public:
    /// What became of the Node object, in words for the ByoHost's condition.
    using Done = std::move_only_function<void(Result<std::string>)>;
    Releasing(AgentContext& context, std::string owner, Done done);
    void start();

private:
    void on_undone(const Result<>& outcome);
    void look_for_node();
    void delete_node(const nlohmann::json& object);
    void leave_node(const nlohmann::json& object, const std::string& why);
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
