#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/base/names.hpp"
#include "daemon/model/document.hpp"

namespace kubexm::model {

/// The checks before a host becomes a node; the last three by kubexmd, the others by the executor.
enum class CheckId {
    kubelet_active,
    kubelet_enabled,
    kubeconfig_present,
    static_pods_present,
    pods_present,
    kubelet_drop_in,
    kubelet_missing,
    kubelet_version,
    runtime_silent,
    cri_disabled,
    cgroup_driver,
    swap_on,
    kernel_version,
    host_name,
    port_taken,
    network_tools,
    cluster_allowed,
    api_server,
    clock,
    name_lookup,
};

/// An error refuses a join; a warning does not.
enum class Severity { error, warning };

/// A check that failed.
struct Finding {
    CheckId id = CheckId::kubelet_active;
    Severity severity = Severity::error;
    std::string found;
    std::string needed;
    std::string remedy;  // for a person

    bool operator==(const Finding&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("id", self.id);
        visit("severity", self.severity);
        visit("found", self.found);
        visit("needed", self.needed);
        visit("remedy", self.remedy);
    }
};

/// conflict: names the findings that are errors, with their remedies. Pure.
Result<> without_errors(const std::vector<Finding>& findings);

/// The needs of a join that its orders decide.
struct JoinNeeds {
    std::string node_name;    // empty: not known
    std::string server;       // URL of the API server; empty: not known
    std::uint32_t minor = 0;  // 34 for Kubernetes 1.34; 0: any
    CgroupDriver cgroup_driver = CgroupDriver::systemd;
    bool fail_swap_on = true;

    bool operator==(const JoinNeeds&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("node_name", self.node_name);
        visit("server", self.server);
        visit("minor", self.minor);
        visit("cgroup_driver", self.cgroup_driver);
        visit("fail_swap_on", self.fail_swap_on);
    }
};

}  // namespace kubexm::model

namespace kubexm {

template <>
struct Names<model::CheckId> {
    using Id = model::CheckId;
    static constexpr std::array<std::pair<Id, std::string_view>, 20> kAll{{
        {Id::kubelet_active, "kubelet-active"},
        {Id::kubelet_enabled, "kubelet-enabled"},
        {Id::kubeconfig_present, "kubeconfig-present"},
        {Id::static_pods_present, "static-pods-present"},
        {Id::pods_present, "pods-present"},
        {Id::kubelet_drop_in, "kubelet-drop-in"},
        {Id::kubelet_missing, "kubelet-missing"},
        {Id::kubelet_version, "kubelet-version"},
        {Id::runtime_silent, "runtime-silent"},
        {Id::cri_disabled, "cri-disabled"},
        {Id::cgroup_driver, "cgroup-driver"},
        {Id::swap_on, "swap-on"},
        {Id::kernel_version, "kernel-version"},
        {Id::host_name, "host-name"},
        {Id::port_taken, "port-10250"},
        {Id::network_tools, "network-tools"},
        {Id::cluster_allowed, "cluster-allowed"},
        {Id::api_server, "api-server"},
        {Id::clock, "clock"},
        {Id::name_lookup, "name-lookup"},
    }};
};

template <>
struct Names<model::Severity> {
    static constexpr std::array<std::pair<model::Severity, std::string_view>, 2> kAll{{
        {model::Severity::error, "error"},
        {model::Severity::warning, "warning"},
    }};
};

}  // namespace kubexm
