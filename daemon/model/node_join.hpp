#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/model/document.hpp"

namespace kubexm::model {

/// What the cluster wants of every kubelet, as far as the executor can render it.
struct KubeletSettings {
    CgroupDriver cgroup_driver = CgroupDriver::systemd;
    std::vector<std::string> cluster_dns;
    std::string cluster_domain = "cluster.local";
    bool fail_swap_on = true;
    std::uint32_t max_pods = 110;

    bool operator==(const KubeletSettings&) const = default;
};

/// Everything that makes this host a node of one cluster; no secret, only digests.
struct NodeJoin {
    std::string owner;  // for whom the plan is: "machine-<uid>"
    std::string node_name;
    std::string provider_id;
    std::string server;
    std::optional<std::string> server_name;  // of its certificate, where that is another
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
