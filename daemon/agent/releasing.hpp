#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/agent/activity.hpp"
#include "daemon/agent/draining.hpp"
#include "daemon/agent/executor_state.hpp"
#include "daemon/agent/join_strategy.hpp"
#include "daemon/agent/memory.hpp"
#include "daemon/agent/plan_run.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

/// Releases the host: lets the pods end, undoes the ledger of the owner, then deletes the Node, or
/// marks it not Ready where this host is not permitted to. HostRelease then frees the ByoHost, and
/// only after that the node's credentials are removed: after a kill everything can be repeated.
class Releasing : public Activity<Freed> {
public:
    Releasing(AgentContext& context, const JoinStrategy& strategy, std::string owner,
              std::optional<model::OnBehalfOf> on_behalf_of, Done done);
    void start() override;

private:
    void undo();
    void on_undone(const Result<wire::PlanSummary>& outcome);
    void look_at_node();
    void delete_known_node();
    void find_node();
    Result<bool> connect();
    void delete_node(const nlohmann::json& object);
    void mark_not_ready(const nlohmann::json& object, const std::string& why);
    void end(const std::string& node_message);

    const JoinStrategy& strategy_;
    std::string owner_;
    std::optional<model::OnBehalfOf> on_behalf_of_;
    std::unique_ptr<Draining> draining_;
    std::string pods_message_;
    std::unique_ptr<PlanRun> run_;
    std::unique_ptr<kube::Api> api_;
    std::optional<model::NodeRecord> known_;  // as it was before the undo
    kube::Api::Handle call_;
};

/// The objects that a released machine has left, on the host or in its cluster, as text; empty:
/// none. Pure.
std::string left_of(const Freed& freed, const ExecutorState& executor);
/// The same for the ByoHost's condition: "its previous state is restored" where nothing stays.
/// Pure.
std::string release_message(const Freed& freed, const ExecutorState& executor);

}  // namespace kubexm::agent
