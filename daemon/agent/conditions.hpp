#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/model/snapshot.hpp"

namespace kubexm::agent {

// Conditions of the ByoHost API, which controllers of the management cluster read.
inline constexpr std::string_view kBootstrapped = "K8sNodeBootstrapSucceeded";
inline constexpr std::string_view kInstalled = "K8sComponentsInstallationSucceeded";
inline constexpr std::string_view kNodeAbsent = "K8sNodeAbsent";  // reason of both

// Also on the ByoHost: whether its assignment is applied, or conflicts with the node on this host.
inline constexpr std::string_view kAssignmentApplied = "AssignmentApplied";

// In the local status only.
inline constexpr std::string_view kCertificateIssued = "CertificateIssued";
inline constexpr std::string_view kExecutorAvailable = "ExecutorAvailable";
inline constexpr std::string_view kManagementClusterReachable = "ManagementClusterReachable";
inline constexpr std::string_view kNodeReady = "NodeReady";

model::Condition is_true(std::string_view type, std::string message);
model::Condition is_false(std::string_view type, std::string_view severity, std::string_view reason,
                          std::string message);
model::Condition is_unknown(std::string_view type, std::string_view reason, std::string message);

/// Puts a condition into a list sorted by type; returns whether the list has changed. Keeps the
/// time of an earlier one with the same status: it is when the status changed. Pure.
bool put(std::vector<model::Condition>& list, model::Condition condition, std::string_view now);

/// "2026-01-31T12:00:00Z"
std::string rfc3339(std::chrono::system_clock::time_point time);

}  // namespace kubexm::agent
