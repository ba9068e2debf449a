#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::kube {

// The ByoHost of this host from and to JSON. Pure.

inline constexpr const char* kHostApiVersion = "infrastructure.cluster.x-k8s.io/v1beta1";
inline constexpr const char* kHostKind = "ByoHost";

/// ".../namespaces/<namespace>/byohosts"
std::string hosts_path(const std::string& namespace_);
std::string host_path(const std::string& namespace_, const std::string& name);
std::string host_status_path(const std::string& namespace_, const std::string& name);

/// A malformed field is reported in `problem`, not as an error: a host that cannot be joined must
/// still be released.
model::HostRecord host_from_json(const nlohmann::json& object);

/// To create the ByoHost.
nlohmann::json new_host(const model::HostFacts& facts);
/// Applied at every start and when they change: spec.capacity and its labels, then the status.
nlohmann::json capacity_patch(const model::HostFacts& facts);
nlohmann::json facts_patch(const model::HostFacts& facts);

/// Replaces the conditions of `record` that have a type of ours and keeps the others. The server
/// accepts the patch only for the version that was read.
nlohmann::json conditions_patch(const model::HostRecord& record,
                                const std::vector<model::Condition>& ours);

/// The two patches that mark the host as free, to be applied in this order: a free host never shows
/// that it is still bootstrapped.
nlohmann::json released_status_patch(const model::HostRecord& record,
                                     const std::vector<model::Condition>& ours);
nlohmann::json released_patch(const model::HostRecord& record);

}  // namespace kubexm::kube
