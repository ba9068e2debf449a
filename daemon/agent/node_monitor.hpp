#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "daemon/agent/context.hpp"
#include "daemon/agent/join_strategy.hpp"
#include "daemon/agent/label_fight.hpp"
#include "daemon/agent/node_certificate.hpp"
#include "daemon/agent/own_cordon.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/kube/request_backoff.hpp"
#include "daemon/kube/watch.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

/// Watches this host's Node with the node's own certificate, which it keeps valid; its state is in
/// AgentState::node. Keeps the Node's labels as the ByoHost wants them, and no cordon of ours.
class NodeMonitor {
public:
    /// `on_plan`: a plan that renews the certificate has ended.
    NodeMonitor(AgentContext& context, const JoinStrategy& strategy, std::string owner,
                std::function<void()> on_plan);
    ~NodeMonitor();
    NodeMonitor(const NodeMonitor&) = delete;
    NodeMonitor& operator=(const NodeMonitor&) = delete;

    /// not_found: no certificate is stored for the owner.
    Result<> start();
    /// After a change of the AgentState.
    void update();
    /// False: a join has stored other credentials meanwhile.
    bool is_current() const { return certificate_->is_current(); }

private:
    void update_labels();
    void update_cordon();
    void on_object(const nlohmann::json& object);
    void on_change(const kube::Answer<void>& answer);
    void change(const std::function<void(NodeState&)>& change);
    bool became_ready() const;
    void remember_ready();
    void allow_labels();
    void on_labels_set(const std::vector<model::Pair>& wanted, const nlohmann::json& patch);
    void end_fight();
    void on_labels_failed(const kube::Failure& failure, const std::string& patch);
    Result<> remember_labels(const std::vector<model::Pair>& labels);

    AgentContext& context_;
    const JoinStrategy& strategy_;
    std::string owner_;
    std::function<void()> on_plan_;
    std::unique_ptr<kube::Api> api_;
    std::unique_ptr<NodeCertificate> certificate_;
    std::unique_ptr<kube::Watch> watch_;
    std::unique_ptr<OwnCordon> cordon_;
    kube::Api::Handle patch_;
    std::string refused_labels_;  // patch that the server refused: not sent again
    Loop::Handle retry_labels_;
    LabelFight fight_;
    Loop::Handle next_in_fight_;
    kube::RequestBackoff backoff_{std::chrono::seconds(1), std::chrono::minutes(5)};
};

/// The patch that gives a Node the wanted labels and removes those of `applied` that are not wanted
/// any more; null: nothing differs. Pure.
nlohmann::json label_patch(const model::NodeRecord& node, const std::vector<model::Pair>& wanted,
                           const std::vector<model::Pair>& applied);

/// Whether a Node has this host's machine-id and provider ID, and is Ready. Pure.
Result<> verify(const model::NodeRecord& node, const model::HostFacts& facts);

}  // namespace kubexm::agent
