#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "daemon/agent/executor_state.hpp"
#include "daemon/agent/memory.hpp"
#include "daemon/base/error.hpp"
#include "daemon/model/host.hpp"
#include "daemon/model/node_join.hpp"

namespace kubexm::agent {

struct AgentState;

// The orders of the management cluster, compared with the node on this host. Pure.

/// Compares resourceVersions, decimal numbers of any length; false where one is unknown.
bool is_older(const std::string& version, const std::string& than);

/// Changes with everything that a join depends on.
std::string orders_hash(const model::HostRecord& host);

/// Why a release order is not for the node on this host: it is older than the join, or names
/// another machine. Empty: it is for this node, or there is no node.
std::string contradiction(const model::HostRecord& host, const Memory& memory,
                          const std::string& present_owner);

/// Whether the ByoHost moved to another management cluster and names the machine of this node by
/// its new uid: the same ByoMachine, the same cluster.
bool is_moved(const AgentState& state, const std::string& present_owner);

bool is_active(const Pause& pause, std::chrono::sys_seconds now);
/// "user 0 paused this host at ..., until ..."
std::string pause_text(const Pause& pause);

/// "byoh://h1"
/// The newest release that the executor shows, or will show, is no reason to hold the host: it is
/// from before the join, or a person resumed. By its plan: the clock may be set back.
void overlook_release(JoinedMachine& joined, const std::optional<ExecutorState>& observed);

std::string provider_id_of(const std::string& host);

/// 34 for "v1.34.1".
Result<std::uint32_t> minor_of(const std::string& version);

/// The node that the ByoHost and its secret ask for, without a certificate. A joined node stays at
/// its version. Nothing: neither the secret nor an earlier join says enough.
std::optional<Result<model::NodeJoin>> wanted_join(const AgentState& state);

}  // namespace kubexm::agent
