#include "daemon/executor/engine/next_join.hpp"

#include <gtest/gtest.h>

namespace kubexm::executor {
namespace {

using namespace model;

model::Claim claim_of(const char* path) { return {path, std::nullopt}; }
RenderedFile file_of(Document document) { return {std::move(document), std::nullopt}; }
DataFile bundle_at(const char* path) { return {path, DataKind::ca_bundle, "", {}}; }
UnitState unit_that(std::optional<bool> enabled, std::optional<bool> active) {
    return {"x.service", enabled, active, std::nullopt, ""};
}

TEST(NextJoin, IsHarmedByWhatRunsOrIsMounted) {
    const std::vector<Step> steps{
        unit_that(true, true),
        unit_that(std::nullopt, true),
        unit_that(true, std::nullopt),
        SideEffects{SideEffect::pods},
        SideEffects{SideEffect::cgroups},
        SideEffects{SideEffect::network_files},
        claim_of("/var/lib/kubelet"),
        claim_of("/run/netns"),
        claim_of("/etc/kubernetes/manifests"),
        claim_of("/run/containerd/runc/k8s.io"),
        claim_of("/srv/of-a-plan-of-root"),
    };
    for (const Step& step : steps) EXPECT_TRUE(harms_next_join(step)) << object_of(step);
}

TEST(NextJoin, IsHarmedByUnitsAndByThePodNetworkOfTheLastNode) {
    const std::vector<Step> steps{
        file_of(KubeletService{}),
        file_of(ProxyDropIn{.service = ManagedService::kubelet}),
        file_of(ProxyDropIn{.service = ManagedService::containerd}),
        file_of(CniConfiguration{}),
        Symlink{"/etc/systemd/system/multi-user.target.wants/x.service", "x"},
        ManagedBlock{"/etc/systemd/system/x.service", "x", {}},
    };
    for (const Step& step : steps) EXPECT_TRUE(harms_next_join(step)) << object_of(step);
}

/// The executor refuses another API server, and other CAs of kubelet's clients.
TEST(NextJoin, IsHarmedByWhatBindsTheHostToTheLastCluster) {
    EXPECT_TRUE(harms_next_join(file_of(Kubeconfig{.user = KubeconfigUser::kubelet})));
    EXPECT_TRUE(harms_next_join(bundle_at(kClientCa)));
}

TEST(NextJoin, IsNotHarmedByAnythingElse) {
    const std::vector<Step> steps{
        bundle_at(kClusterCa),
        file_of(KubeletConfiguration{}),
        file_of(Kubeconfig{.user = KubeconfigUser::kube_proxy}),
        file_of(ContainerdConfiguration{}),
        file_of(RegistryHosts{}),
        file_of(SysctlFile{}),
        file_of(ModulesFile{}),
        SecretFile{"/var/lib/kubelet/pki/kubelet-client-1.pem", "", "", {}},
        Directory{"/etc/kubernetes", {}},
        Directory{"/etc/systemd/system/kubelet.service.d", {}},
        Symlink{"/var/lib/kubelet/pki/kubelet-client-current.pem", "x"},
        ManagedBlock{"/etc/hosts", "x", {}},
        AbsentPath{"/etc/x"},
        DeletedTree{"/var/lib/old"},
        Sysctl{"net.ipv4.ip_forward", "1"},
        KernelModule{"br_netfilter"},
        SwapOff{},
        Unmounted{"/var/lib/kubelet"},
        unit_that(std::nullopt, false),
        unit_that(false, std::nullopt),
        UnitState{"x.service", std::nullopt, std::nullopt, true, ""},
        DaemonReload{{"kubelet.service"}},
        ComponentVersion{"kubelet", "v1", {}},
        TransientUnit{"kubexm-x.service", {"/usr/bin/true"}, 60},
        model::Claim{.path = "/run/containerd/s", .if_empty = true, .prefix = {}},
        claim_of("/etc/kubernetes"),
        claim_of("/etc/kubernetes/pki"),
        claim_of("/usr/libexec/kubernetes"),
        claim_of("/var/lib/kubelet/pki"),
        claim_of("/var/log/containers"),
        claim_of("/var/log/pods"),
        SideEffects{SideEffect::chains},
        SideEffects{SideEffect::sets},
        SideEffects{SideEffect::links},
        SideEffects{SideEffect::routes},
    };
    for (const Step& step : steps) EXPECT_FALSE(harms_next_join(step)) << object_of(step);
}

}  // namespace
}  // namespace kubexm::executor
