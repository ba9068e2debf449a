#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/agent/context.hpp"
#include "daemon/agent/facts_reporter.hpp"
#include "daemon/agent/host_identity.hpp"
#include "daemon/agent/registration.hpp"
#include "daemon/agent/secret_reader.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/kube/watch.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

/// This host in the management cluster: its identity, its ByoHost, and every version of it.
class Management {
public:
    struct Listener {
        /// AgentState::host has a new version.
        std::function<void()> on_host;
        /// api() is about to be replaced.
        std::function<void()> on_lost;
    };
    Management(AgentContext& context, HostIdentity::Options identity, Listener listener);

    void start() { identity_.start(); }
    /// From the executor.
    void on_bootstrap(const wire::BootstrapKubeconfig& bootstrap);
    /// After a change of the AgentState.
    void update();
    /// Its `api` is null until this host has credentials.
    ManagementApi api() const { return {api_.get(), ca_}; }
    /// The clock of its server minus this host's; none: not known.
    std::optional<std::chrono::seconds> clock_offset() const {
        return api_ ? api_->clock_offset() : std::nullopt;
    }

private:
    void on_credentials(kube::ClusterCredentials credentials);
    void on_renewed(const kube::ClusterCredentials& credentials);
    void on_registered(const model::HostFacts& written);
    void on_creating();
    void on_found(const nlohmann::json& object);
    void on_created(const nlohmann::json& object);
    void on_object(const nlohmann::json& object);
    void on_version(const model::HostRecord& host);
    void on_reachable();
    void on_failure(const kube::Failure& failure);
    void report(const Error& error);

    AgentContext& context_;
    Listener listener_;
    HostIdentity identity_;
    std::string ca_;
    std::unique_ptr<kube::Api> api_;
    std::unique_ptr<Registration> registration_;
    std::unique_ptr<kube::Watch> watch_;
    std::unique_ptr<FactsReporter> facts_;  // none: not registered
    Loop::Handle delayed_;                  // a version that is older than our last write
};

}  // namespace kubexm::agent
