#pragma once

#include <string>

#include "daemon/agent/credential_store.hpp"
#include "daemon/agent/executor_client.hpp"
#include "daemon/agent/status_store.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/loop/loop.hpp"
#include "daemon/model/snapshot.hpp"

namespace kubexm::agent {

/// What everybody who does something for this host needs. All of it outlives them.
struct AgentContext {
    Loop& loop;
    ExecutorClient& executor;  // questions and orders
    ExecutorClient& reports;   // plans as they are carried out: it may take minutes until one ends
    const CredentialStore& store;
    StatusStore& status;
    model::HostFacts facts;
    std::string namespace_;  // the namespace of the ByoHost
};

}  // namespace kubexm::agent
