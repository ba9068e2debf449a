#pragma once

#include <memory>
#include <string>

#include "daemon/agent/certificate_order.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/kube/kubeconfig.hpp"

namespace kubexm::agent {

/// Another certificate for the present credentials, which request it. Tested with a request on a
/// connection of its own before anybody uses it.
class CertificateRenewal : public Activity<kube::ClusterCredentials> {
public:
    struct Order {
        CertificateOrder::Spec spec;
        std::string
            test_path;  // of an object that the identity may read, whether it is there or not
    };
    CertificateRenewal(AgentContext& context, Order order, kube::ClusterCredentials present,
                       Done done);
    void start() override;

private:
    void on_issued(Result<Credential> credential);
    void on_tested(const kube::Answer<nlohmann::json>& object);

    Order order_;
    kube::ClusterCredentials credentials_;  // the present ones, then the new ones
    std::unique_ptr<kube::Api> api_;
    std::unique_ptr<CertificateOrder> certificate_;
    kube::Api::Handle test_;
};

}  // namespace kubexm::agent
