#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "daemon/agent/certificate_order.hpp"
#include "daemon/agent/context.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/kube/bootstrap_secret.hpp"

namespace kubexm::agent {

/// The certificate of the node: kept from an earlier try, or asked for with the bootstrap
/// credentials; in either case tried on the API server before anything is built on it.
class NodeCredential {
public:
    using Done = std::move_only_function<void(Result<kube::ClusterCredentials>)>;
    NodeCredential(AgentContext& context, std::string owner, Done done);

    void start(kube::ClusterCredentials bootstrap);

    /// Where it is kept for an owner.
    static std::string file_of(const std::string& owner) { return owner + ".kubeconfig"; }

private:
    void order();
    void on_certificate(Result<Credential> credential);
    void prove(kube::ClusterCredentials access);
    void on_proof(const kube::Answer<nlohmann::json>& node);
    void finish(Result<kube::ClusterCredentials> outcome);

    AgentContext& context_;
    std::string owner_;
    Done done_;
    kube::ClusterCredentials bootstrap_;
    bool is_kept_ = false;  // what is proved is from an earlier try
    std::optional<kube::ClusterCredentials> access_;
    std::unique_ptr<kube::Api> api_;
    std::unique_ptr<CertificateOrder> order_;
    kube::Api::Handle call_;
    LifetimeGuard lifetime_;
};

}  // namespace kubexm::agent
