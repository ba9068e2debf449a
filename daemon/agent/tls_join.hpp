#pragma once

#include <memory>
#include <string>

#include "daemon/agent/activity.hpp"
#include "daemon/agent/join_checks.hpp"
#include "daemon/agent/join_strategy.hpp"
#include "daemon/agent/node_credential.hpp"
#include "daemon/agent/plan_run.hpp"

namespace kubexm::agent {

/// spec.joinMode "tlsBootstrap": kubexmd gets the node's certificate with a bootstrap token.
class TlsBootstrap : public JoinStrategy {
public:
    static constexpr std::string_view kMode = "tlsBootstrap";

    std::unique_ptr<Activity<void>> join(AgentContext& context, ManagementApi management,
                                         JoinRequest request,
                                         Activity<void>::Done done) const override;
    Result<std::optional<kube::ClusterCredentials>> node_credentials(
        const AgentContext& context, const std::string& owner) const override;
};

/// Joins this host to its cluster by TLS bootstrap: reads the secret, checks the host, gets the
/// node's certificate, runs the join plan. A node that is joined already keeps its certificate
/// unless it was refused: its changed settings need neither a token nor the secret. An adopted node
/// gets a second owner, then loses the first; nothing changes on the host.
class TlsJoin : public Activity<void> {
public:
    TlsJoin(AgentContext& context, ManagementApi management, JoinRequest request, Done done);
    void start() override;

private:
    void read_secret();
    void check_host(kube::ClusterCredentials bootstrap);
    void on_checked(const Result<Checked>& checked, kube::ClusterCredentials bootstrap);
    void get_credential(kube::ClusterCredentials bootstrap);
    void on_credential(const Result<kube::ClusterCredentials>& credentials);
    Result<> submit_plan(const kube::ClusterCredentials& credentials);
    Result<> remember_join(const model::NodeJoin& wanted, const std::string& ca,
                           const SentPair& pair);
    void on_joined(const Result<wire::PlanSummary>& end);

    ManagementApi management_;
    JoinRequest request_;
    std::unique_ptr<SecretReader> secret_;
    std::unique_ptr<JoinChecks> checks_;
    std::unique_ptr<NodeCredential> credential_;
    std::unique_ptr<PlanRun> run_;
};

}  // namespace kubexm::agent
