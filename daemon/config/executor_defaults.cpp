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
        // The paths of kubexmd's own plans: a claim removes every new entry below its path.
        {std::string(model::Unmounted::kType), {}},
        {std::string(model::Claim::kType),
         {"/etc/kubernetes", "/run/containerd/io.containerd.grpc.v1.cri",
          "/run/containerd/io.containerd.runtime.v2.task/k8s.io", "/run/containerd/runc",
          "/run/containerd/s", "/run/netns", "/usr/libexec/kubernetes",
          "/var/lib/containerd/io.containerd.grpc.v1.cri",
          "/var/lib/containerd/io.containerd.runtime.v2.task/k8s.io", "/var/lib/kubelet",
          "/var/log/containers", "/var/log/pods"}},
    };
}

/// Without the documents by which containerd gets images from other servers, and pods another
/// network: no node needs them, and root may add them.
std::vector<std::string> default_documents() {
    std::vector<std::string> documents = model::AllowList{}.documents;
    std::erase(documents, model::RegistryHosts::kType);
    std::erase(documents, model::CniConfiguration::kType);
    return documents;
}

}  // namespace

Allowed::Allowed()
    : AllowList{
          .documents = default_documents(),
          .directories = default_directories(),
          .units = {"kubelet.service", "containerd.service", "kube-proxy.service"},
          .sysctls = {"net.ipv4.ip_forward", "net.bridge.bridge-nf-call-iptables",
                      "net.bridge.bridge-nf-call-ip6tables", "net.ipv6.conf.all.forwarding",
                      "vm.overcommit_memory", "vm.panic_on_oom", "kernel.panic",
                      "kernel.panic_on_oops", "kernel.keys.root_maxkeys",
                      "kernel.keys.root_maxbytes", "fs.inotify.*"},
          .modules = {"overlay", "br_netfilter", "nf_conntrack", "ip_vs", "ip_vs_rr", "ip_vs_wrr",
                      "ip_vs_sh"},
          .links = {"cni0"},
          .executables = {},
          .components = {"kubelet", "kube-proxy", "containerd", "runc", "cni-plugins", "crictl"},
      } {}

}  // namespace kubexm::config
