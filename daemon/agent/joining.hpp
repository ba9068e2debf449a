#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/agent/context.hpp"
#include "daemon/agent/node_credential.hpp"
#include "daemon/agent/plan_run.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/model/host.hpp"
#include "daemon/model/node_join.hpp"

namespace kubexm::agent {

/// Joins this host to its cluster: reads the bootstrap secret, gets the node's certificate, runs
/// the join plan. NodeMonitor then watches the Node.
class Joining {
public:
    using Done = std::move_only_function<void(Result<>)>;
    /// `management_ca` is used for a self-managed cluster whose secret has no CA.
    Joining(AgentContext& context, kube::Api& management, std::string management_ca,
            model::HostRecord host, std::string owner, Done done);
    void start();

private:
    void on_secret(kube::Answer<nlohmann::json> secret);
    void on_credential(const Result<kube::ClusterCredentials>& credentials);
    Result<> submit_plan(const kube::ClusterCredentials& credentials);
    void finish(Result<> outcome);

    AgentContext& context_;
    kube::Api& management_;
    std::string management_ca_;
    model::HostRecord host_;
    model::Reference secret_;
    std::string owner_;
    Done done_;
    model::KubeletSettings settings_;
    kube::Api::Handle call_;
    std::unique_ptr<NodeCredential> credential_;
    std::unique_ptr<PlanRun> run_;
    LifetimeGuard lifetime_;
};

/// "byoh://h1"
std::string provider_id_of(const std::string& host);

/// 34 for "v1.34.1".
Result<std::uint32_t> minor_of(const std::string& version);

}  // namespace kubexm::agent
