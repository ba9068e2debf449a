#include "daemon/config/executor_config.hpp"
#include "daemon/model/step.hpp"

namespace kubexm::config {

namespace {

using Paths = std::vector<std::string>;

/// All step types that name a path. Types with free content exclude every path that root executes
/// or obeys: static pods, kubeconfigs (they can name a program) and programs.
std::map<std::string, Paths> default_directories() {
    const Paths ours{"/etc/kubernetes", "/var/lib/kubelet", "/var/lib/kube-proxy", "/opt/kubexm"};
    return {
        {std::string(model::DataFile::kType), {"/etc/kubernetes/pki"}},
        {std::string(model::SecretFile::kType),
         {"/etc/kubernetes/pki", "/var/lib/kubelet/pki", "/var/lib/kube-proxy/pki"}},
        {std::string(model::Directory::kType),
         {"/etc/kubernetes", "/etc/cni", "/etc/containerd", "/etc/systemd/system/kubelet.service.d",
          "/etc/systemd/system/containerd.service.d", "/var/lib/kubelet", "/var/lib/kube-proxy",
          "/opt/kubexm"}},
        {std::string(model::Symlink::kType), {"/etc/kubernetes/pki", "/var/lib/kubelet/pki"}},
        {std::string(model::ManagedBlock::kType), {"/etc/hosts"}},
        {std::string(model::AbsentPath::kType), ours},
        {std::string(model::DeletedTree::kType), ours},
        {std::string(model::Unmounted::kType),
         {"/var/lib/kubelet", "/run/containerd", "/run/netns"}},
        {std::string(model::Claim::kType),
         {"/etc/kubernetes", "/etc/cni", "/opt/cni", "/run/containerd", "/run/netns",
          "/usr/libexec/kubernetes", "/var/lib/cni", "/var/lib/containerd", "/var/lib/kubelet",
          "/var/lib/kube-proxy", "/var/log/containers", "/var/log/pods"}},
    };
}

}  // namespace

Allowed::Allowed()
    : AllowList{
          .directories = default_directories(),
          .units = {"kubelet.service", "containerd.service", "kube-proxy.service"},
          .sysctls = {"net.ipv4.ip_forward", "net.bridge.bridge-nf-call-iptables",
                      "net.bridge.bridge-nf-call-ip6tables", "net.ipv6.conf.all.forwarding",
                      "vm.overcommit_memory", "vm.panic_on_oom", "kernel.panic",
                      "kernel.panic_on_oops", "kernel.keys.root_maxkeys",
                      "kernel.keys.root_maxbytes", "fs.inotify.*"},
          .modules = {"overlay", "br_netfilter", "nf_conntrack", "ip_vs", "ip_vs_rr", "ip_vs_wrr",
                      "ip_vs_sh"},
          .links = {"cni0", "flannel.1", "kube-ipvs0"},
          .executables = {},
          .components = {"kubelet", "kube-proxy", "containerd", "runc", "cni-plugins", "crictl"},
      } {}

}  // namespace kubexm::config
