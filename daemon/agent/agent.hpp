#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "daemon/agent/context.hpp"
#include "daemon/agent/credential_store.hpp"
#include "daemon/agent/executor_client.hpp"
#include "daemon/agent/management.hpp"
#include "daemon/agent/reconciler.hpp"
#include "daemon/agent/status_store.hpp"

namespace kubexm::agent {

/// Puts the parts of kubexmd's decisions together. Loop thread, except snapshot().
class Agent {
public:
    struct Options {
        std::string program;  // "kubexmd 0.1.0", sent to the executor
        std::string version;
        std::string executor_socket;
        std::string state;  // kubexmd's state directory
        std::string host_name;
        std::string namespace_;
        std::string bootstrap_kubeconfig;
        /// Called when the first attempt to reach the executor has succeeded or failed.
        std::function<void()> on_ready;
        StatusStore::Listener on_change;
    };
    static Result<std::unique_ptr<Agent>> create(Loop& loop, Options options);

    void start();
    /// The current status; asks the executor for a fresh observation, for the next call. Any
    /// thread.
    std::shared_ptr<const model::Snapshot> snapshot();

private:
    Agent(Loop& loop, Options options, CredentialStore store, const model::HostFacts& facts);

    Loop& loop_;
    Options options_;
    CredentialStore store_;
    StatusStore status_;
    ExecutorClient executor_;
    ExecutorClient reports_;
    AgentContext context_;
    Management management_;
    Reconciler reconciler_;
    std::atomic<bool> refresh_pending_ = false;
};

}  // namespace kubexm::agent
