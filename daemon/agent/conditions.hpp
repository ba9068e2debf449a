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

// Also on the ByoHost.
inline constexpr std::string_view kAssignmentApplied = "AssignmentApplied";
inline constexpr std::string_view kSettingsInvalid = "SettingsInvalid";  // its reason

inline constexpr std::string_view kCertificateIssued = "CertificateIssued";
inline constexpr std::string_view kCertificatesRenewed = "CertificatesRenewed";
inline constexpr std::string_view kClusterCasConfirmed = "ClusterCAsConfirmed";
inline constexpr std::string_view kHostAsApplied = "HostAsApplied";
inline constexpr std::string_view kDrifted = "Drifted";  // its reason
inline constexpr std::string_view kHostNameUnchanged = "HostNameUnchanged";
inline constexpr std::string_view kNodeReady = "NodeReady";
inline constexpr std::string_view kNotPaused = "NotPaused";
inline constexpr std::string_view kManualDecisionRequired = "ManualDecisionRequired";  // reason
inline constexpr std::string_view kReleasedByPerson = "ReleasedByPerson";              // reason
inline constexpr std::string_view kStaleReleaseOrder = "StaleReleaseOrder";            // reason

// In the local status only.
inline constexpr std::string_view kClusterSettingsApplied = "ClusterSettingsApplied";
inline constexpr std::string_view kBootstrapKubeconfigUsable = "BootstrapKubeconfigUsable";
inline constexpr std::string_view kExecutorAvailable = "ExecutorAvailable";
inline constexpr std::string_view kLocalApiAvailable = "LocalApiAvailable";
inline constexpr std::string_view kManagementClusterReachable = "ManagementClusterReachable";
inline constexpr std::string_view kRenderingCurrent = "RenderingCurrent";

model::Condition is_true(std::string_view type, std::string message);
model::Condition is_false(std::string_view type, std::string_view severity, std::string_view reason,
                          std::string message);
model::Condition is_unknown(std::string_view type, std::string_view reason, std::string message);

/// Puts a condition into a list sorted by type; returns whether the list has changed. Keeps the
/// time of an earlier one with the same status: it is when the status changed. Pure.
bool put(std::vector<model::Condition>& list, model::Condition condition, std::string_view now);

struct AgentState;
struct PendingRequest;

struct Conditions {
    std::vector<model::Condition> on_host;  // for the ByoHost, and shown here
    std::vector<model::Condition> local;
};

/// Every condition that can be stated. One that is left out is unknown: its last report stays.
/// `since` is not set. Pure.
Conditions conditions_of(const AgentState& state);

/// For what a certificate waits, and how a person can approve it.
std::string approval_text(const PendingRequest& request);

/// "2026-01-31T12:00:00Z"
std::string rfc3339(std::chrono::system_clock::time_point time);

}  // namespace kubexm::agent
