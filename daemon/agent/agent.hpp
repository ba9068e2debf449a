#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/agent/commands.hpp"
#include "daemon/agent/context.hpp"
#include "daemon/agent/credential_store.hpp"
#include "daemon/agent/facts_monitor.hpp"
#include "daemon/agent/management.hpp"
#include "daemon/agent/reconciler.hpp"
#include "daemon/agent/state_store.hpp"

namespace kubexm::agent {

/// Puts the parts of kubexmd's decisions together. Loop thread, except snapshot() and submit().
class Agent {
public:
    struct Options {
        std::string version;
        std::string state;  // kubexmd's state directory
        std::string namespace_;
        std::chrono::seconds pods_timeout{120};
        std::string bootstrap_kubeconfig;
        bool is_bootstrap_configured = false;  // HostIdentity::Options::is_configured
        StateStore::Listener on_change;
    };
    /// The world around the decisions; tests have their own. Outlives the agent.
    struct Ports {
        ExecutorPort& executor;
        std::function<Result<std::unique_ptr<kube::Api>>(kube::ClusterCredentials)> connect;
        Clock clock;
        Random random;
        /// look_up(), or that of a test.
        NameLookup look_up;
        /// read_facts(), or that of a test.
        FactsMonitor::Read read_facts;
        /// read_name(), or that of a test.
        FactsMonitor::ReadName read_name;
    };
    static Result<std::unique_ptr<Agent>> create(Loop& loop, Options options,
                                                 model::HostFacts facts, Ports ports);

    void start() { management_.start(); }
    /// The executor is connected, or why not.
    void on_executor(const Result<>& connected) { reconciler_.on_executor(connected); }
    /// Links, addresses or routes of this host have changed.
    void on_links() { facts_.on_links(); }
    /// The process is awake for another reason.
    void on_wakeup();
    /// Any thread.
    std::shared_ptr<const model::Snapshot> snapshot() const { return state_.snapshot(); }
    /// Whether all listeners of the local API work. Any thread.
    void on_local_api(const Result<>& listens);
    /// Any thread; `done` is called on the loop's.
    void submit(model::Command command, Commands::Done done);
    const AgentState& state() const { return state_.read(); }

private:
    Agent(Loop& loop, Options options, CredentialStore store, AgentState first, Ports ports);

    Loop& loop_;
    Options options_;
    CredentialStore store_;
    StateStore state_;
    AgentContext context_;
    FactsMonitor facts_;
    Management management_;
    Reconciler reconciler_;
    Commands commands_;
};

}  // namespace kubexm::agent
