#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/model/snapshot.hpp"

namespace kubexm::agent {

// The words of the contract with the management cluster, which its controllers and people know.
inline constexpr std::string_view kBootstrapped = "K8sNodeBootstrapSucceeded";
inline constexpr std::string_view kInstalled = "K8sComponentsInstallationSucceeded";
inline constexpr std::string_view kNodeAbsent = "K8sNodeAbsent";  // a reason of both

// Ours, beside them: whether what the ByoHost asks is done, or does not fit what is here.
inline constexpr std::string_view kAssignmentApplied = "AssignmentApplied";

// What only this host says of itself.
inline constexpr std::string_view kCertificateIssued = "CertificateIssued";
inline constexpr std::string_view kExecutorAvailable = "ExecutorAvailable";
inline constexpr std::string_view kManagementClusterReachable = "ManagementClusterReachable";
inline constexpr std::string_view kNodeReady = "NodeReady";

model::Condition is_true(std::string_view type, std::string message);
model::Condition is_false(std::string_view type, std::string_view severity, std::string_view reason,
                          std::string message);
model::Condition is_unknown(std::string_view type, std::string_view reason, std::string message);

/// Puts a condition into a list sorted by type. The time of one that was there with the same status
/// is kept: it is when the status changed. Whether the list is different now. Pure.
bool put(std::vector<model::Condition>& list, model::Condition condition, std::string_view now);

/// "2026-01-31T12:00:00Z"
std::string rfc3339(std::chrono::system_clock::time_point time);

}  // namespace kubexm::agent
