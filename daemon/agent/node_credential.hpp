#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "daemon/agent/certificate_order.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/kube/bootstrap_secret.hpp"

namespace kubexm::agent {

/// The node's certificate: stored by an earlier try, or requested with the bootstrap credentials.
/// Tested with the API server before it is used.
class NodeCredential : public Activity<kube::ClusterCredentials> {
public:
    NodeCredential(AgentContext& context, std::string owner, kube::ClusterCredentials bootstrap,
                   Done done);
    void start() override;

    /// The certificate request of a node.
    static CertificateOrder::Spec spec_for(const std::string& owner, const std::string& node);
    /// The file of an owner in the store.
    static std::string file_of(const std::string& owner) { return owner + ".kubeconfig"; }

private:
    void order();
    void on_certificate(Result<Credential> credential);
    void test(kube::ClusterCredentials credentials);
    void on_tested(const kube::Answer<nlohmann::json>& node);

    std::string owner_;
    kube::ClusterCredentials bootstrap_;
    bool is_stored_ = false;  // the tested certificate is from an earlier try
    std::optional<kube::ClusterCredentials> credentials_;
    std::unique_ptr<kube::Api> api_;
    std::unique_ptr<CertificateOrder> order_;
    kube::Api::Handle call_;
};

}  // namespace kubexm::agent
