#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kubexm::model {

// Files that root or kubelet obey, as typed parameters. The executor renders them; their paths and
// everything else come from templates, so a plan cannot add a command, a path or a directive.

struct Pair {
    std::string key;
    std::string value;

    bool operator==(const Pair&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("key", self.key);
        visit("value", self.value);
    }
};

enum class TaintEffect { no_schedule, prefer_no_schedule, no_execute };

struct Taint {
    std::string key;
    std::string value;
    TaintEffect effect = TaintEffect::no_schedule;

    bool operator==(const Taint&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("key", self.key);
        visit("value", self.value);
        visit("effect", self.effect);
    }
};

/// kubelet.service.
struct KubeletService {
    static constexpr std::string_view kType = "kubelet-service";
    std::string node_name;
    std::string node_ip;      // empty: kubelet chooses
    std::string provider_id;  // "byoh://h1"
    std::vector<Pair> labels;
    std::vector<Taint> taints;

    bool operator==(const KubeletService&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("node_name", self.node_name);
        visit("node_ip", self.node_ip);
        visit("provider_id", self.provider_id);
        visit("labels", self.labels);
        visit("taints", self.taints);
    }
};

enum class CgroupDriver { systemd, cgroupfs };

/// The KubeletConfiguration file. Rotation and certificate paths are not parameters: kubexmd owns
/// both.
struct KubeletConfiguration {
    static constexpr std::string_view kType = "kubelet-configuration";
    std::uint32_t minor = 0;  // 34 for Kubernetes 1.34: decides which fields exist
    CgroupDriver cgroup_driver = CgroupDriver::systemd;
    std::vector<std::string> cluster_dns;
    std::string cluster_domain;
    bool fail_swap_on = true;
    bool fail_cgroup_v1 = false;
    std::uint32_t max_pods = 110;
    // true: kubelet-server-current.pem is in place; else kubelet signs a certificate itself
    std::optional<bool> serving_pair;

    bool operator==(const KubeletConfiguration&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("minor", self.minor);
        visit("cgroup_driver", self.cgroup_driver);
        visit("cluster_dns", self.cluster_dns);
        visit("cluster_domain", self.cluster_domain);
        visit("fail_swap_on", self.fail_swap_on);
        visit("fail_cgroup_v1", self.fail_cgroup_v1);
        visit("max_pods", self.max_pods);
        visit("serving_pair", self.serving_pair);
    }
};

enum class KubeconfigUser { kubelet, kube_proxy };

/// A kubeconfig with file references: certificates are renewed without touching it.
struct Kubeconfig {
    static constexpr std::string_view kType = "kubeconfig";
    KubeconfigUser user = KubeconfigUser::kubelet;
    std::string server;                      // "https://10.0.0.1:6443"
    std::optional<std::string> server_name;  // in its certificate, if not the host of `server`

    bool operator==(const Kubeconfig&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("user", self.user);
        visit("server", self.server);
        visit("server_name", self.server_name);
    }
};

/// containerd's config.toml; 1.x reads version 2, 2.x version 3.
struct ContainerdConfiguration {
    static constexpr std::string_view kType = "containerd-configuration";
    std::uint32_t version = 2;
    CgroupDriver cgroup_driver = CgroupDriver::systemd;
    std::string sandbox_image;

    bool operator==(const ContainerdConfiguration&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("version", self.version);
        visit("cgroup_driver", self.cgroup_driver);
        visit("sandbox_image", self.sandbox_image);
    }
};

enum class RegistryCapability { pull, resolve };

/// A server that has the images of a registry, too.
struct RegistryMirror {
    std::string endpoint;  // "https://mirror.example.com:5000"
    std::vector<RegistryCapability> capabilities;
    std::string ca;  // a file in kRegistryCas: "mirror.crt"; empty: the CAs of the host

    bool operator==(const RegistryMirror&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("endpoint", self.endpoint);
        visit("capabilities", self.capabilities);
        visit("ca", self.ca);
    }
};

/// The mirrors of a registry, for containerd: certs.d/REGISTRY/hosts.toml. No parameter turns the
/// verification of certificates off, and none is for all registries.
struct RegistryHosts {
    static constexpr std::string_view kType = "registry-hosts";
    std::string registry;                 // "registry.k8s.io" or "10.0.0.5:5000"
    std::vector<RegistryMirror> mirrors;  // asked in this order, before the registry itself

    bool operator==(const RegistryHosts&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("registry", self.registry);
        visit("mirrors", self.mirrors);
    }
};

/// The pod network of the reference plugins bridge, host-local and portmap.
struct CniConfiguration {
    static constexpr std::string_view kType = "cni-configuration";
    std::string name;         // of the network
    std::string bridge;       // its link: "cni0"
    std::string ipv4_subnet;  // "10.244.1.0/24"; empty: none
    std::string ipv6_subnet;
    std::uint32_t mtu = 0;  // of the bridge; 0: the kernel chooses
    bool masquerade = true;

    bool operator==(const CniConfiguration&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("name", self.name);
        visit("bridge", self.bridge);
        visit("ipv4_subnet", self.ipv4_subnet);
        visit("ipv6_subnet", self.ipv6_subnet);
        visit("mtu", self.mtu);
        visit("masquerade", self.masquerade);
    }
};

enum class ManagedService { kubelet, containerd };

/// A drop-in that gives a service its proxy settings.
struct ProxyDropIn {
    static constexpr std::string_view kType = "proxy-drop-in";
    ManagedService service = ManagedService::containerd;
    std::string http_proxy;
    std::string https_proxy;
    std::string no_proxy;

    bool operator==(const ProxyDropIn&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("service", self.service);
        visit("http_proxy", self.http_proxy);
        visit("https_proxy", self.https_proxy);
        visit("no_proxy", self.no_proxy);
    }
};

/// /etc/sysctl.d/99-kubexm.conf, so that values survive a reboot.
struct SysctlFile {
    static constexpr std::string_view kType = "sysctl-file";
    std::vector<Pair> values;

    bool operator==(const SysctlFile&) const = default;
    static void fields(auto& self, auto&& visit) { visit("values", self.values); }
};

/// /etc/modules-load.d/kubexm.conf.
struct ModulesFile {
    static constexpr std::string_view kType = "modules-file";
    std::vector<std::string> modules;

    bool operator==(const ModulesFile&) const = default;
    static void fields(auto& self, auto&& visit) { visit("modules", self.modules); }
};

using Document =
    std::variant<KubeletService, KubeletConfiguration, Kubeconfig, ContainerdConfiguration,
                 RegistryHosts, CniConfiguration, ProxyDropIn, SysctlFile, ModulesFile>;

// The CAs of a cluster: of its API server, and of the clients that kubelet lets in.
inline constexpr const char* kClusterCa = "/etc/kubernetes/pki/ca.crt";
inline constexpr const char* kClientCa = "/etc/kubernetes/pki/client-ca.crt";

// The CAs of registries' mirrors. Root's directory: as installed, no plan writes there.
inline constexpr const char* kRegistryCas = "/etc/kubexm/registry-cas";

/// The file of a document.
std::string path_of(const Document& document);

}  // namespace kubexm::model
