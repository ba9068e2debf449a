#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "daemon/agent/certificate_keeper.hpp"
#include "daemon/agent/certificate_order.hpp"
#include "daemon/agent/context.hpp"
#include "daemon/base/backoff.hpp"
#include "daemon/kube/api.hpp"

namespace kubexm::agent {

/// This host's identity in the management cluster: the stored certificate, or one requested with
/// the bootstrap kubeconfig. Where that names another cluster, the host requests a certificate
/// there and keeps its present one until then. Retries for ever. With its first certificate the
/// host has a name for good.
class HostIdentity {
public:
    struct Options {
        std::string bootstrap_kubeconfig;  // path; empty or absent: none
        bool is_configured = false;        // the path is that of the configuration
    };
    struct Listener {
        std::function<void(kube::ClusterCredentials)> on_credentials;
        /// The same identity with another certificate.
        std::function<void(const kube::ClusterCredentials&)> on_renewed;
        /// The management cluster's clock minus this host's; none: not known.
        std::function<std::optional<std::chrono::seconds>()> clock_offset;
        /// not_found: neither a certificate nor a bootstrap kubeconfig. Other errors are retried.
        std::function<void(const Error&)> on_error;
    };
    HostIdentity(AgentContext& context, Options options, Listener listener);

    void start();
    /// Root's bootstrap kubeconfig, which may be a new one; null: there is none. Ignored where the
    /// configuration names another file.
    void use_bootstrap(Result<std::shared_ptr<const Fd>> content);
    /// The server refused the certificate: request a new one with the bootstrap kubeconfig.
    void renew();
    /// The server accepted the certificate: stop a renewal, if one runs.
    void confirm();
    /// After a change of the AgentState.
    void update();

private:
    Result<Secret> read_text() const;
    Result<kube::ClusterCredentials> read_bootstrap();
    void use(kube::ClusterCredentials credentials);
    void keep(kube::ClusterCredentials credentials);
    void follow_bootstrap();
    void enrol();
    void order();
    Result<> remember_name();
    void follow_name();
    void on_certificate(Result<Credential> credential);
    void report(const Error& why);
    void retry_later(const Error& why);

    AgentContext& context_;
    Options options_;
    Listener listener_;
    std::string host_;                  // its name, becomes CN=byoh:host:<host>
    std::shared_ptr<const Fd> passed_;  // the bootstrap kubeconfig, newer than the file; null: none
    std::string digest_;                // of the bootstrap kubeconfig that was read last
    kube::ClusterCredentials bootstrap_;
    std::optional<kube::ClusterCredentials> present_;  // in use; without certificate and key
    std::unique_ptr<kube::Api> api_;
    std::unique_ptr<CertificateOrder> order_;
    std::unique_ptr<CertificateKeeper> keeper_;  // of the certificate in use
    bool is_refused_ = false;                    // the stored certificate
    Loop::Handle retry_;
    Backoff backoff_;
};

}  // namespace kubexm::agent
