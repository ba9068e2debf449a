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

/// This host's place in the management cluster: its identity there, its ByoHost, and what that
/// says, as it changes.
class Management {
public:
    struct Listener {
        std::function<void(const model::HostRecord&)> on_host;
        /// api() is about to be another one.
        std::function<void()> on_lost;
    };
    Management(AgentContext& context, std::string bootstrap_kubeconfig, Listener listener);

    void start() { identity_.start(); }
    /// There is one once a host was told.
    kube::Api& api() { return *api_; }
    const std::string& ca() const { return ca_; }

private:
    void on_access(kube::ClusterCredentials access);
    void on_registered();
    void on_object(const nlohmann::json& object);
    void on_trouble(const kube::Failure& failure);
    void say(const Error& trouble);

    AgentContext& context_;
    Listener listener_;
    HostIdentity identity_;
    std::string ca_;
    std::unique_ptr<kube::Api> api_;
    std::unique_ptr<Registration> registration_;
    std::unique_ptr<kube::Watch> watch_;
};

}  // namespace kubexm::agent
