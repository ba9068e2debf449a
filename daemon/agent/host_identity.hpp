#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/agent/certificate_order.hpp"
#include "daemon/agent/context.hpp"
#include "daemon/base/backoff.hpp"
#include "daemon/kube/api.hpp"

namespace kubexm::agent {

/// This host's identity in the management cluster: the stored certificate, or one requested with
/// the bootstrap kubeconfig. Retries for ever.
class HostIdentity {
public:
    struct Options {
        std::string host;                  // becomes CN=byoh:host:<host>
        std::string bootstrap_kubeconfig;  // path; empty or absent: none
    };
    struct Listener {
        std::function<void(kube::ClusterCredentials)> on_credentials;
        /// not_found: neither a certificate nor a bootstrap kubeconfig. Other errors are retried.
        std::function<void(const Error&)> on_error;
    };
    HostIdentity(AgentContext& context, Options options, Listener listener);

    void start();
    /// The server refused the certificate: request a new one with the bootstrap kubeconfig.
    void renew();
    /// The server accepted the certificate: stop a renewal, if one runs.
    void confirm();

private:
    Result<kube::ClusterCredentials> read_bootstrap() const;
    void enrol();
    void order();
    void on_certificate(Result<Credential> credential);
    void retry_later(const Error& why);

    AgentContext& context_;
    Options options_;
    Listener listener_;
    kube::ClusterCredentials bootstrap_;
    std::unique_ptr<kube::Api> api_;
    std::unique_ptr<CertificateOrder> order_;
    bool is_refused_ = false;  // the stored certificate
    Loop::Handle retry_;
    Backoff backoff_;
};

}  // namespace kubexm::agent
