#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/agent/credential_store.hpp"
#include "daemon/agent/executor_port.hpp"
#include "daemon/agent/name_lookup.hpp"
#include "daemon/agent/state_store.hpp"
#include "daemon/base/random.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/loop/loop.hpp"

namespace kubexm::agent {

/// Shared by all activities; outlives them.
struct AgentContext {
    Loop& loop;
    ExecutorPort& executor;
    const CredentialStore& store;
    StateStore& state;
    /// kube::Api::create(), or that of a test.
    std::function<Result<std::unique_ptr<kube::Api>>(kube::ClusterCredentials)> connect;
    /// look_up(), or that of a test.
    NameLookup look_up;
    Random random;
    std::string namespace_;             // of the ByoHost
    std::chrono::seconds pods_timeout;  // for the end of the pods of a host that is released

    const model::HostFacts& facts() const { return state.read().facts; }
};

/// Changes the memory, on the disk first: the state never has a memory that a kill would lose. A
/// failure is logged and returned; the state then stays as it was.
Result<> remember(AgentContext& context, const std::function<void(Memory&)>& change);

/// The same for a change that must not wait for the disk: after a failed write this process knows
/// the change and writes it later. A kill before that forgets it.
Result<> remember_anyway(AgentContext& context, const std::function<void(Memory&)>& change);

/// The executor has refused a request of an activity. A full queue, a quota or a request of root
/// that goes first is no failure of the activity yet.
void note_refusal(AgentContext& context, const Error& error);

}  // namespace kubexm::agent
