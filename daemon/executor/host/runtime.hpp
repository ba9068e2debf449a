#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"

namespace kubexm::executor {

// The container runtime, over CRI v1. Worker thread.

using RuntimeDeadline = std::chrono::steady_clock::time_point;

/// The ids of all pod sandboxes, sorted. not_found: no runtime listens.
Result<std::vector<std::string>> list_pods(RuntimeDeadline deadline);

/// Success where containerd answers, also without its CRI plugin.
Result<> ping_runtime(RuntimeDeadline deadline);

/// The configuration of containerd's CRI plugin as JSON; empty: it shows none.
Result<std::string> runtime_configuration(RuntimeDeadline deadline);

/// Stops and removes a pod with its containers and network. Success also where it is absent.
Result<> remove_pod(const std::string& id, RuntimeDeadline deadline);

/// Runs containerd's garbage collection of snapshots and content that removed pods used.
Result<> clear_store(RuntimeDeadline deadline);

/// The ids in a ListPodSandboxResponse. invalid: not such a message.
Result<std::vector<std::string>> pods_in(std::string_view response);

}  // namespace kubexm::executor
