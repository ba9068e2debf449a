#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/model/document.hpp"

namespace kubexm::model {

/// The cluster's settings for every kubelet.
struct KubeletSettings {
    CgroupDriver cgroup_driver = CgroupDriver::systemd;
    std::vector<std::string> cluster_dns;
    std::string cluster_domain = "cluster.local";
    bool fail_swap_on = true;
    std::uint32_t max_pods = 110;

    bool operator==(const KubeletSettings&) const = default;
};

/// The parameters that make this host a node of a cluster. Secrets only as digests.
struct NodeJoin {
    std::string owner;  // of the plan: "machine-<uid>"
    std::string node_name;
    std::string provider_id;
    std::string server;
    std::optional<std::string> server_name;  // in its certificate, if not the host of `server`
    std::uint32_t minor = 0;                 // 34 for Kubernetes 1.34
    std::string ca_digest;
    std::string certificate_digest;  // of certificate and key in one PEM
    std::string certificate_serial;
    KubeletSettings kubelet;
    std::vector<Pair> labels;
    std::vector<Taint> taints;

    bool operator==(const NodeJoin&) const = default;
};

}  // namespace kubexm::model
