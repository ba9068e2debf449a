#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/agent/activity.hpp"
#include "daemon/agent/draining.hpp"
#include "daemon/agent/join_strategy.hpp"
#include "daemon/agent/plan_run.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

/// Releases the host: lets the pods end, undoes the ledger of the owner, then deletes the Node, or
/// marks it not Ready where this host is not permitted to. The Reconciler then frees the ByoHost
/// and only after that removes the node's credentials: after a kill everything can be repeated. Its
/// outcome is a message for the ByoHost's condition: what stays, on the host or in the cluster.
class Releasing : public Activity<std::string> {
public:
    Releasing(AgentContext& context, const JoinStrategy& strategy, std::string owner, Done done);
    void start() override;

private:
    void undo();
    void on_undone(const Result<wire::PlanSummary>& outcome);
    void find_node();
    void delete_node(const nlohmann::json& object);
    void mark_not_ready(const nlohmann::json& object, const std::string& why);
    void end(const std::string& node_message);

    const JoinStrategy& strategy_;
    std::string owner_;
    std::unique_ptr<Draining> draining_;
    std::string pods_message_;
    std::vector<model::Remaining> stays_;
    std::unique_ptr<PlanRun> run_;
    std::unique_ptr<kube::Api> api_;
    kube::Api::Handle call_;
};

/// "the host is as it was", or what stays. Pure.
std::string release_message(const std::vector<model::Remaining>& stays,
                            const std::string& node_message, const std::string& pods_message);

}  // namespace kubexm::agent
