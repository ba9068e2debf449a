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

/// Everything kubexmd decides, put together. Loop thread, but for snapshot().
class Agent {
public:
    struct Options {
        std::string program;  // "kubexmd 0.1.0", as the executor is told
        std::string version;
        std::string executor_socket;
        std::string state;  // our directory
        std::string host_name;
        std::string namespace_;
        std::string bootstrap_kubeconfig;
        /// Told when the executor answers, and when they do not: nothing more is waited for.
        std::function<void()> on_ready;
        StatusStore::Listener on_change;
    };
    static Result<std::unique_ptr<Agent>> create(Loop& loop, Options options);

    void start();
    /// What is to be shown. Any thread. Whoever asks makes us look again, so that what is shown
    /// next is not older than the asking.
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
    std::atomic<bool> looking_ = false;
};

}  // namespace kubexm::agent
