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
    static void fields(auto& self, auto&& visit) {
        visit("cgroup_driver", self.cgroup_driver);
        visit("cluster_dns", self.cluster_dns);
        visit("cluster_domain", self.cluster_domain);
        visit("fail_swap_on", self.fail_swap_on);
        visit("max_pods", self.max_pods);
    }
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
    std::string client_ca_digest;  // of the CAs of kubelet's clients
    /// Of the CAs for which kubelet has to be started again; empty: it has those of the first join.
    std::string started_ca_digest;
    std::string client_digest;   // of kubelet's certificate and key at the API server, in one PEM
    std::string serving_digest;  // of those of kubelet's own server
    KubeletSettings kubelet;
    std::vector<Pair> labels;
    std::vector<Taint> taints;

    bool operator==(const NodeJoin&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("owner", self.owner);
        visit("node_name", self.node_name);
        visit("provider_id", self.provider_id);
        visit("server", self.server);
        visit("server_name", self.server_name);
        visit("minor", self.minor);
        visit("ca_digest", self.ca_digest);
        visit("client_ca_digest", self.client_ca_digest);
        visit("started_ca_digest", self.started_ca_digest);
        visit("client_digest", self.client_digest);
        visit("serving_digest", self.serving_digest);
        visit("kubelet", self.kubelet);
        visit("labels", self.labels);
        visit("taints", self.taints);
    }
};

/// SHA-256 of the wanted state: all but the certificates, which are renewed on their own, the CAs
/// of clients, which stay those of the first join, and those that kubelet was started with. Members
/// at their default do not count: a newer version with more of them must not plan every node again.
/// Pure.
std::string wanted_of(NodeJoin join);

}  // namespace kubexm::model
