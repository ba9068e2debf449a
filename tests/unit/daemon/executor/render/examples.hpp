#pragma once

#include <string>
#include <vector>

#include "daemon/model/document.hpp"

namespace kubexm::executor {

/// A document with every member set, and the file below golden/ that it becomes.
struct Example {
    std::string golden;
    model::Document document;
};

inline std::vector<Example> examples() {
    using namespace model;
    return {
        {"kubelet.service",
         KubeletService{.node_name = "host-1.example.com",
                        .node_ip = "10.0.0.5",
                        .provider_id = "byoh://host-1.example.com",
                        .labels = {{"site", "a"}, {"node.kubernetes.io/pool", ""}},
                        .taints = {{"example.com/team", "a", TaintEffect::no_schedule},
                                   {"gpu", "", TaintEffect::no_execute}}}},
        {"kubelet.yaml", KubeletConfiguration{.minor = 34,
                                              .cgroup_driver = CgroupDriver::systemd,
                                              .cluster_dns = {"10.96.0.10", "fd00:10:96::a"},
                                              .cluster_domain = "cluster.local",
                                              .fail_swap_on = false,
                                              .fail_cgroup_v1 = true,
                                              .max_pods = 250}},
        {"kubelet-kubeconfig.yaml", Kubeconfig{KubeconfigUser::kubelet, "https://10.0.0.1:6443"}},
        {"kube-proxy-kubeconfig.yaml",
         Kubeconfig{KubeconfigUser::kube_proxy, "https://api.example.com"}},
        {"containerd-2.toml",
         ContainerdConfiguration{.version = 2,
                                 .cgroup_driver = CgroupDriver::systemd,
                                 .sandbox_image = "registry.k8s.io/pause:3.10"}},
        {"containerd-3.toml",
         ContainerdConfiguration{.version = 3,
                                 .cgroup_driver = CgroupDriver::cgroupfs,
                                 .sandbox_image = "registry.example.com:5000/base/pause:3.10"}},
        {"hosts.toml", RegistryHosts{.registry = "registry.example.com:5000",
                                     .mirrors = {{.endpoint = "https://near.example.com:5000",
                                                  .capabilities = {RegistryCapability::pull,
                                                                   RegistryCapability::resolve},
                                                  .ca = "near.crt"},
                                                 {.endpoint = "http://10.0.0.5",
                                                  .capabilities = {RegistryCapability::pull},
                                                  .ca = ""}}}},
        {"pod-network.conflist", CniConfiguration{.name = "pods",
                                                  .bridge = "cni0",
                                                  .ipv4_subnet = "10.244.1.0/24",
                                                  .ipv6_subnet = "fd00:10:244:1::/64",
                                                  .mtu = 1450,
                                                  .masquerade = false}},
        {"proxy.conf", ProxyDropIn{.service = ManagedService::containerd,
                                   .http_proxy = "http://proxy.example.com:3128",
                                   .https_proxy = "socks5://[fd00::1]:1080",
                                   .no_proxy = "localhost,.svc,10.0.0.0/8"}},
        {"sysctl.conf",
         SysctlFile{{{"net.ipv4.ip_forward", "1"}, {"net.ipv4.tcp_rmem", "4096 87380 6291456"}}}},
        {"modules.conf", ModulesFile{{"overlay", "br_netfilter"}}},
    };
}

}  // namespace kubexm::executor
