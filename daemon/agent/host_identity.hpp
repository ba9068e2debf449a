#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/agent/certificate_order.hpp"
#include "daemon/agent/context.hpp"
#include "daemon/base/backoff.hpp"
#include "daemon/kube/api.hpp"

namespace kubexm::agent {

/// Who this host is in the management cluster: a certificate that is kept, or asked for with the
/// bootstrap kubeconfig and for as long as it takes.
class HostIdentity {
public:
    struct Options {
        std::string host;                  // becomes CN=byoh:host:<host>
        std::string bootstrap_kubeconfig;  // path of the file; may be missing
    };
    struct Listener {
        std::function<void(kube::ClusterCredentials)> on_access;
        /// not_found: neither a certificate nor a bootstrap kubeconfig. Others are tried again.
        std::function<void(const Error&)> on_trouble;
    };
    HostIdentity(AgentContext& context, Options options, Listener listener);

    void start();
    /// The certificate is refused: a new one, with the bootstrap kubeconfig.
    void renew();
    /// The certificate is good: no other is asked for, even if it was refused before.
    void settle();

private:
    Result<kube::ClusterCredentials> bootstrap_access() const;
    void enrol();
    void order();
    void on_certificate(Result<Credential> credential);
    void try_again(const Error& why);

    AgentContext& context_;
    Options options_;
    Listener listener_;
    kube::ClusterCredentials bootstrap_;
    std::unique_ptr<kube::Api> api_;
    std::unique_ptr<CertificateOrder> order_;
    bool is_refused_ = false;  // what is kept
    Loop::Handle retry_;
    Backoff backoff_;
};

}  // namespace kubexm::agent
