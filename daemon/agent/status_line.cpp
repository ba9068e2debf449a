#include "daemon/agent/status_line.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/agent/conditions.hpp"

namespace kubexm::agent {

namespace {

std::string about_host(const model::Snapshot& snapshot) {
    const std::string cluster = snapshot.assignment ? snapshot.assignment->cluster : "a cluster";
    switch (snapshot.phase) {
        case model::Phase::unconfigured:
            return "No bootstrap kubeconfig.";
        case model::Phase::enrolling:
            return "Enrolling with the management cluster.";
        case model::Phase::waiting:
            return "Registered; no cluster wants this host.";
        case model::Phase::joining:
            return fmt::format("Joining {}.", cluster);
        case model::Phase::joined:
            return fmt::format("A node of {}.", cluster);
        case model::Phase::releasing:
            return "Giving the host back.";
        case model::Phase::failed:
            return "Cannot go on: kubexmctl status tells why.";
        case model::Phase::held:
            return "Held for a person to decide: kubexmctl status tells why.";
        case model::Phase::paused:
            return "Paused.";
    }
    return "";
}

std::string about_executor(const model::Snapshot& snapshot) {
    const auto& all = snapshot.conditions;
    const auto executor = std::ranges::find(all, kExecutorAvailable, &model::Condition::type);
    if (executor == all.end()) return "";
    if (executor->status == model::ConditionStatus::yes) return " The executor answers.";
    return " The executor does not answer: " + executor->message;
}

}  // namespace

std::string status_line(const model::Snapshot& snapshot) {
    return about_host(snapshot) + about_executor(snapshot);
}

}  // namespace kubexm::agent
