#include "daemon/plan/join.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "daemon/base/digest.hpp"
#include "daemon/model/node_labels.hpp"
#include "daemon/plan/node_files.hpp"

namespace kubexm::plan {

namespace {

using namespace model;

constexpr FileAccess kOnlyRoot{.mode = Mode{0700}};
constexpr FileAccess kForAll{.mode = Mode{0755}};

/// Trees that kubelet and containerd create. Of containerd only those of the namespace k8s.io: it
/// may run other containers, too.
constexpr std::array kCreatedAtRunTime{
    "/run/containerd/io.containerd.grpc.v1.cri/containers",
    "/run/containerd/io.containerd.grpc.v1.cri/sandboxes",
    "/run/containerd/io.containerd.runtime.v2.task/k8s.io",
    "/run/containerd/runc/k8s.io",
    "/usr/libexec/kubernetes",
    "/var/lib/containerd/io.containerd.grpc.v1.cri/containers",
    "/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes",
    "/var/lib/containerd/io.containerd.runtime.v2.task/k8s.io",
    "/var/log/containers",
    "/var/log/pods",
    "/etc/kubernetes",
    "/etc/kubernetes/manifests",
    "/etc/kubernetes/pki",
    "/var/lib/kubelet",
    "/var/lib/kubelet/pki",
};

/// Their parents, which containerd may share with other clients.
constexpr std::array kShared{
    "/run/containerd/io.containerd.grpc.v1.cri",
    "/run/containerd/runc",
    "/run/containerd/s",
    "/var/lib/containerd/io.containerd.grpc.v1.cri",
};

/// The kernel parameters that kubelet would set itself, without undo. In a file, too, for the next
/// boot.
void add_sysctls(std::vector<Step>& steps) {
    const std::vector<Pair> values{{"net.ipv4.ip_forward", "1"},
                                   {"vm.overcommit_memory", "1"},
                                   {"vm.panic_on_oom", "0"},
                                   {"kernel.panic", "10"},
                                   {"kernel.panic_on_oops", "1"},
                                   {"kernel.keys.root_maxkeys", "1000000"},
                                   {"kernel.keys.root_maxbytes", "25000000"}};
    for (const auto& [key, value] : values) steps.emplace_back(Sysctl{key, value});
    steps.emplace_back(RenderedFile{SysctlFile{values}});
}

/// Between the directories and the files in them: undo runs in reverse order and restores a
/// directory after the files that kubelet created in it are gone.
void add_claims(std::vector<Step>& steps) {
    for (const SideEffect kind :
         {SideEffect::routes, SideEffect::links, SideEffect::sets, SideEffect::chains}) {
        steps.emplace_back(SideEffects{kind});
    }
    for (const char* path : kShared) steps.emplace_back(Claim{path, /*if_empty=*/true});
    for (const char* path : kCreatedAtRunTime) steps.emplace_back(Claim{path});
    steps.emplace_back(Claim{.path = "/run/netns", .if_empty = {}, .prefix = "cni-"});
}

void add_directories(std::vector<Step>& steps) {
    steps.emplace_back(Directory{"/etc/kubernetes", kForAll});
    steps.emplace_back(Directory{"/etc/kubernetes/manifests", kOnlyRoot});
    steps.emplace_back(Directory{"/etc/kubernetes/pki", kForAll});
    steps.emplace_back(Directory{"/var/lib/kubelet", {.mode = Mode{0750}}});
    steps.emplace_back(Directory{kPki, kOnlyRoot});
}

void add_credentials(std::vector<Step>& steps, const NodeJoin& join) {
    steps.emplace_back(DataFile{kClusterCa, DataKind::ca_bundle, join.ca_digest, {}});
    steps.emplace_back(DataFile{kClientCa, DataKind::ca_bundle, join.client_ca_digest, {}});
    add_pair(steps, kClientSeries, join.client_digest);
    add_pair(steps, kServerSeries, join.serving_digest);
}

/// kubelet is restarted when one of these files changes.
std::vector<Step> kubelet_files(const NodeJoin& join) {
    const KubeletSettings& settings = join.kubelet;
    return {
        RenderedFile{KubeletConfiguration{join.minor, settings.cgroup_driver, settings.cluster_dns,
                                          settings.cluster_domain, settings.fail_swap_on,
                                          /*fail_cgroup_v1=*/false, settings.max_pods,
                                          /*serving_pair=*/true}},
        RenderedFile{Kubeconfig{KubeconfigUser::kubelet, join.server, join.server_name}},
        RenderedFile{KubeletService{join.node_name, /*node_ip=*/"", join.provider_id,
                                    labels_for_kubelet(join.labels), join.taints}},
    };
}

std::string restart_key_of(const NodeJoin& join) {
    // kubelet reads labels and taints of its unit when it registers only.
    NodeJoin registered = join;
    registered.labels.clear();
    registered.taints.clear();
    const std::string key = digest_of(kubelet_files(registered));
    return join.started_ca_digest.empty() ? key : sha256(key + join.started_ca_digest);
}

void add_kubelet(std::vector<Step>& steps, const NodeJoin& join) {
    const std::vector<Step> files = kubelet_files(join);
    // Before the unit's file: pods are removed while systemd reloads.
    steps.emplace_back(SideEffects{SideEffect::pods});
    steps.insert(steps.end(), files.begin(), files.end());
    // A step of its own: that of the unit, if it is interrupted, restarts kubelet.
    steps.emplace_back(DaemonReload{{"kubelet.service"}});
    steps.emplace_back(
        UnitState{"kubelet.service", true, true, std::nullopt, restart_key_of(join)});
}

}  // namespace

Plan make_join(const NodeJoin& join, std::string id) {
    Plan plan{.id = std::move(id),
              .owner = join.owner,
              .steps = {},
              .purpose = PlanPurpose::join,
              .wanted = wanted_of(join)};
    // The undo of the unit's file makes systemd reload, which answers nothing meanwhile; only
    // control groups and the mounts of a pod network have to wait for that.
    plan.steps.emplace_back(SideEffects{SideEffect::cgroups});
    plan.steps.emplace_back(SideEffects{SideEffect::network_files});
    add_sysctls(plan.steps);
    add_directories(plan.steps);
    add_claims(plan.steps);
    add_credentials(plan.steps, join);
    add_kubelet(plan.steps, join);
    return plan;
}

}  // namespace kubexm::plan
