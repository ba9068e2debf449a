#include "daemon/agent/status_line.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/agent/conditions.hpp"

namespace kubexm::agent {

namespace {

std::string host_text(const model::Snapshot& snapshot) {
    const std::string cluster = snapshot.assignment ? snapshot.assignment->cluster : "a cluster";
    switch (snapshot.phase) {
        case model::Phase::unconfigured:
            return "No bootstrap kubeconfig.";
        case model::Phase::enrolling:
            return "Enrolling with the management cluster.";
        case model::Phase::waiting:
            return "Registered; not assigned to a cluster.";
        case model::Phase::joining:
            return fmt::format("Joining {}.", cluster);
        case model::Phase::joined:
            return fmt::format("Node of {}.", cluster);
        case model::Phase::releasing:
            return "Releasing the host.";
        case model::Phase::failed:
            return "Failed: see kubexmctl status.";
        case model::Phase::held:
            return "Manual decision required: see kubexmctl status.";
        case model::Phase::paused:
            return "Paused.";
    }
    return "";
}

std::string executor_text(const model::Snapshot& snapshot) {
    const auto& all = snapshot.conditions;
    const auto executor = std::ranges::find(all, kExecutorAvailable, &model::Condition::type);
    if (executor == all.end()) return "";
    if (executor->status == model::ConditionStatus::yes) return " Executor available.";
    return " Executor not available: " + executor->message;
}

}  // namespace

std::string status_line(const model::Snapshot& snapshot) {
    return host_text(snapshot) + executor_text(snapshot);
}

}  // namespace kubexm::agent
