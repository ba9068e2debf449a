#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::kube {

// The ByoHost of this host, both ways. Pure.

/// ".../namespaces/<namespace>/byohosts"
std::string hosts_path(const std::string& namespace_);
std::string host_path(const std::string& namespace_, const std::string& name);
std::string host_status_path(const std::string& namespace_, const std::string& name);

/// Whatever cannot be read is told in `problem`: a host that cannot be joined can still be
/// released.
model::HostRecord host_from_json(const nlohmann::json& object);

/// What is posted once.
nlohmann::json new_host(const model::HostFacts& facts);
/// What is patched at every start, where it differs: spec.capacity, then the status.
nlohmann::json capacity_patch(const model::HostFacts& facts);
nlohmann::json facts_patch(const model::HostFacts& facts,
                           const std::vector<model::Interface>& interfaces);

/// The conditions of `record` with ours in the place of those of the same type; others stay. The
/// patch only takes effect on the version of the host that was read.
nlohmann::json conditions_patch(const model::HostRecord& record,
                                const std::vector<model::Condition>& ours);

/// The two patches that say that the host is free again, in their order: nobody is to see a free
/// host that still calls itself bootstrapped.
nlohmann::json released_status_patch(const model::HostRecord& record,
                                     const std::vector<model::Condition>& ours);
nlohmann::json released_patch(const model::HostRecord& record);

}  // namespace kubexm::kube
