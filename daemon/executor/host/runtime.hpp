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

/// Whether it lists its pods. One that is stopped, hangs, or whose CRI is off does not; one that
/// has just been started is unavailable.
Result<bool> runtime_answers(RuntimeDeadline deadline);

/// Success where containerd answers, also without its CRI plugin.
Result<> ping_runtime(RuntimeDeadline deadline);

/// The configuration of containerd's CRI plugin as JSON; empty: it shows none.
Result<std::string> runtime_configuration(RuntimeDeadline deadline);

struct RunningContainer {
    std::string id;
    std::string pod;             // id of its sandbox
    std::chrono::seconds grace;  // between SIGTERM and SIGKILL

    bool operator==(const RunningContainer&) const = default;
};

/// Of all pods.
Result<std::vector<RunningContainer>> list_containers(RuntimeDeadline deadline);

/// Ends them at once, each in its own time. Success also where they are absent.
Result<> stop_containers(const std::vector<RunningContainer>& containers, RuntimeDeadline deadline);

/// Stops and removes pods at once, with their containers and networks. Success also where they are
/// absent.
Result<> remove_pods(const std::vector<std::string>& ids, RuntimeDeadline deadline);

/// Runs containerd's garbage collection of snapshots and content that removed pods used.
Result<> clear_store(RuntimeDeadline deadline);

/// No container gets more time to end: the management cluster waits five minutes for a release.
inline constexpr std::chrono::seconds kMostGrace{120};

/// The containers in a ListContainersResponse. invalid: not such a message.
Result<std::vector<RunningContainer>> containers_in(std::string_view response);

/// The ids in a ListPodSandboxResponse. invalid: not such a message.
Result<std::vector<std::string>> pods_in(std::string_view response);

}  // namespace kubexm::executor
