#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/agent/certificate_keeper.hpp"
#include "daemon/agent/plan_run.hpp"
#include "daemon/base/backoff.hpp"

namespace kubexm::agent {

/// The certificate with which kubelet and kubexmd speak to the API server of this node: renews it,
/// and gives it to kubelet by a plan. Also while the host is paused or held: the node goes on.
class NodeCertificate {
public:
    /// `api` has the present credentials, and gets their successors. `on_published`: a plan has
    /// changed the certificate of kubelet.
    NodeCertificate(AgentContext& context, std::string owner, kube::Api& api,
                    kube::ClusterCredentials present, std::function<void()> on_published);
    ~NodeCertificate() { report(std::nullopt); }
    NodeCertificate(const NodeCertificate&) = delete;
    NodeCertificate& operator=(const NodeCertificate&) = delete;

    void start() { keeper_.start(); }
    /// After a change of the AgentState.
    void update();
    /// False: a join has stored other credentials meanwhile.
    bool is_current() const;

private:
    CertificateKeeper::Identity identity();
    Result<> use(const kube::ClusterCredentials& credentials);
    bool is_published() const;
    bool may_publish() const;
    Result<> publish();
    void on_published(const Result<wire::PlanSummary>& end);
    void report(std::optional<Error> problem);

    AgentContext& context_;
    std::string owner_;
    kube::Api& api_;
    std::string ca_;                              // of the server
    std::string pair_digest_;                     // of the certificate in use and its key
    std::string certificate_;                     // in use
    std::optional<pki::Certificate> of_kubelet_;  // an older one; none: not known
    CertificateKeeper keeper_;
    /// Of the certificate in use, until kubelet has it.
    std::optional<model::OnBehalfOf> on_behalf_of_;
    std::function<void()> on_published_;
    std::unique_ptr<PlanRun> run_;
    Loop::Handle retry_;
    Backoff backoff_{std::chrono::seconds(1), std::chrono::minutes(5)};
};

}  // namespace kubexm::agent
