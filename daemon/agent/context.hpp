#pragma once

#include <string>

#include "daemon/agent/credential_store.hpp"
#include "daemon/agent/executor_client.hpp"
#include "daemon/agent/status_store.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/loop/loop.hpp"
#include "daemon/model/snapshot.hpp"

namespace kubexm::agent {

/// Shared by all activities; outlives them.
struct AgentContext {
    Loop& loop;
    ExecutorClient& executor;  // requests that are answered soon
    ExecutorClient& reports;   // events of running plans: a reply may take minutes to end
    const CredentialStore& store;
    StatusStore& status;
    model::HostFacts facts;
    std::string namespace_;  // of the ByoHost
};

}  // namespace kubexm::agent
