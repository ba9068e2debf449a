#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"

namespace kubexm::executor {

// The container runtime, over CRI v1. Worker thread.

using RuntimeDeadline = std::chrono::steady_clock::time_point;

/// The ids of all pods, sorted. not_found: no runtime runs.
Result<std::vector<std::string>> list_pods(RuntimeDeadline deadline);

/// Ends a pod and removes it with its containers and its network; success also where it is gone.
Result<> remove_pod(const std::string& id, RuntimeDeadline deadline);

/// Lets containerd clear away at once what removed pods have left in its store, as it would by
/// itself some time later.
Result<> clear_store(RuntimeDeadline deadline);

/// The ids in an answer to ListPodSandbox. invalid: something else.
Result<std::vector<std::string>> pods_in(std::string_view answer);

}  // namespace kubexm::executor
