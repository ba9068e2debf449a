#include "daemon/plan/join.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "daemon/base/digest.hpp"
#include "daemon/model/node_labels.hpp"

namespace kubexm::plan {

namespace {

using namespace model;

constexpr const char* kPki = "/var/lib/kubelet/pki";
constexpr const char* kCa = "/etc/kubernetes/pki/ca.crt";
constexpr FileAccess kOnlyRoot{.mode = Mode{0700}};
constexpr FileAccess kForAll{.mode = Mode{0755}};

/// The trees that kubelet, containerd and the pod network make. Of containerd's only what it has
/// for Kubernetes: others may run containers there too.
constexpr std::array kMadeByOthers{
    "/run/containerd/io.containerd.grpc.v1.cri/containers",
    "/run/containerd/io.containerd.grpc.v1.cri/sandboxes",
    "/run/containerd/io.containerd.runtime.v2.task/k8s.io",
    "/run/containerd/runc/k8s.io",
    "/run/netns",
    "/usr/libexec/kubernetes",
    "/var/lib/cni",
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

/// What they are in, and may come to share with others.
constexpr std::array kShared{
    "/run/containerd/io.containerd.grpc.v1.cri",
    "/run/containerd/runc",
    "/run/containerd/s",
    "/var/lib/containerd/io.containerd.grpc.v1.cri",
};

/// The kernel parameters that kubelet sets behind everybody's back.
void set_sysctls(std::vector<Step>& steps) {
    for (const auto& [key, value] :
         {Pair{"net.ipv4.ip_forward", "1"}, Pair{"vm.overcommit_memory", "1"},
          Pair{"vm.panic_on_oom", "0"}, Pair{"kernel.panic", "10"},
          Pair{"kernel.panic_on_oops", "1"}, Pair{"kernel.keys.root_maxkeys", "1000000"},
          Pair{"kernel.keys.root_maxbytes", "25000000"}}) {
        steps.emplace_back(Sysctl{key, value});
    }
}

/// After the directories and before what is put into them: undo goes the other way, and a directory
/// is given back when what kubelet made in it is gone.
void claim(std::vector<Step>& steps) {
    for (const SideEffect kind : {SideEffect::cgroups, SideEffect::links, SideEffect::chains}) {
        steps.emplace_back(SideEffects{kind});
    }
    for (const char* path : kShared) steps.emplace_back(Claim{path, /*if_empty=*/true});
    for (const char* path : kMadeByOthers) steps.emplace_back(Claim{path, std::nullopt});
}

void make_directories(std::vector<Step>& steps) {
    steps.emplace_back(Directory{"/etc/kubernetes", kForAll});
    steps.emplace_back(Directory{"/etc/kubernetes/manifests", kOnlyRoot});
    steps.emplace_back(Directory{"/etc/kubernetes/pki", kForAll});
    steps.emplace_back(Directory{"/var/lib/kubelet", {.mode = Mode{0750}}});
    steps.emplace_back(Directory{kPki, kOnlyRoot});
}

/// The link has the name that kubelet itself gives it, so that rotation can be handed back to it.
void put_credentials(std::vector<Step>& steps, const NodeJoin& join) {
    const std::string file = certificate_file(join);
    steps.emplace_back(DataFile{kCa, DataKind::ca_bundle, join.ca_digest, {}});
    steps.emplace_back(
        SecretFile{file, "node-" + join.certificate_serial, join.certificate_digest, {Mode{0600}}});
    steps.emplace_back(Symlink{fmt::format("{}/kubelet-client-current.pem", kPki), file});
}

std::vector<Pair> labels_for_kubelet(const std::vector<Pair>& labels) {
    std::vector<Pair> kept;
    for (const Pair& label : labels) {
        if (may_kubelet_set_label(label.key)) kept.push_back(label);
    }
    return kept;
}

/// What kubelet is started with; it is restarted when one of these changes.
std::vector<Step> kubelet_files(const NodeJoin& join) {
    const KubeletSettings& wishes = join.kubelet;
    return {
        RenderedFile{KubeletConfiguration{join.minor, wishes.cgroup_driver, wishes.cluster_dns,
                                          wishes.cluster_domain, wishes.fail_swap_on,
                                          /*fail_cgroup_v1=*/false, wishes.max_pods}},
        RenderedFile{Kubeconfig{KubeconfigUser::kubelet, join.server, join.server_name}},
        RenderedFile{KubeletService{join.node_name, /*node_ip=*/"", join.provider_id,
                                    labels_for_kubelet(join.labels), join.taints}},
    };
}

std::string digest_of(const std::vector<Step>& steps) {
    std::string text;
    for (const Step& step : steps) text += to_json(step);
    return sha256(text);
}

void run_kubelet(std::vector<Step>& steps, const NodeJoin& join) {
    std::vector<Step> files = kubelet_files(join);
    const std::string key = digest_of(files);
    steps.insert(steps.end(), files.begin(), files.end());
    steps.emplace_back(DaemonReload{{"kubelet.service"}});
    steps.emplace_back(SideEffects{SideEffect::pods});
    steps.emplace_back(UnitState{"kubelet.service", true, true, std::nullopt, key});
}

}  // namespace

std::string certificate_file(const NodeJoin& join) {
    return fmt::format("{}/kubelet-client-{}.pem", kPki, join.certificate_serial);
}

Plan make_join(const NodeJoin& join, std::string id) {
    Plan plan{std::move(id), join.owner, {}};
    set_sysctls(plan.steps);
    make_directories(plan.steps);
    claim(plan.steps);
    put_credentials(plan.steps, join);
    run_kubelet(plan.steps, join);
    return plan;
}

}  // namespace kubexm::plan
