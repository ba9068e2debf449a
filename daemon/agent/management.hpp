#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/agent/context.hpp"
#include "daemon/agent/host_identity.hpp"
#include "daemon/agent/registration.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/kube/watch.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

/// This host in the management cluster: its identity, its ByoHost, and every version of it.
class Management {
public:
    struct Listener {
        std::function<void(const model::HostRecord&)> on_host;
        /// api() is about to be replaced.
        std::function<void()> on_lost;
    };
    Management(AgentContext& context, std::string bootstrap_kubeconfig, Listener listener);

    void start() { identity_.start(); }
    /// Valid after the first on_host.
    kube::Api& api() { return *api_; }
    const std::string& ca() const { return ca_; }

private:
    void on_credentials(kube::ClusterCredentials credentials);
    void on_registered();
    void on_object(const nlohmann::json& object);
    void on_failure(const kube::Failure& failure);
    void report(const Error& error);

    AgentContext& context_;
    Listener listener_;
    HostIdentity identity_;
    std::string ca_;
    std::unique_ptr<kube::Api> api_;
    std::unique_ptr<Registration> registration_;
    std::unique_ptr<kube::Watch> watch_;
};

}  // namespace kubexm::agent
