#include "daemon/executor/engine/policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kubexm::executor {
namespace {

using namespace model;

const std::string kDigest(64, 'a');

AllowList allow() {
    return {.clusters = {"10.0.0.1:6443", "api.example.com:443"},
            .registries = {"registry.k8s.io", "docker.io", "http://10.0.0.5:5000"},
            .directories = {{"data-file", {"/etc/kubernetes/pki", "/etc/cni/net.d", "/etc/kubexm"}},
                            {"directory", {"/etc/kubernetes", "/var/lib/kubelet"}},
                            {"managed-block", {"/etc/hosts"}},
                            {"symlink", {"/etc/kubernetes/pki"}},
                            {"deleted-tree", {"/var/lib/kubelet"}},
                            {"claim", {"/var/lib/kubelet", "/run/netns"}}},
            .units = {"kubelet.service"},
            .sysctls = {"net.ipv4.ip_forward", "net.bridge.*", "kernel.*"},
            .modules = {"overlay"},
            .links = {"cni0"},
            .executables = {"/usr/local/bin/kubelet"},
            .components = {"kubelet"},
            .digests = {{"kubelet/v1.34.1/kubelet", kDigest}}};
}

Step mirrored(std::string registry, std::string endpoint) {
    return RenderedFile{RegistryHosts{std::move(registry),
                                      {{std::move(endpoint), {RegistryCapability::pull}, ""}}}};
}

Step pod_network(std::string bridge) {
    return RenderedFile{CniConfiguration{
        .name = "pods", .bridge = std::move(bridge), .ipv4_subnet = "10.244.1.0/24"}};
}

Result<> judged(Step step) { return permitted({"p", "o", {std::move(step)}}, allow()); }

class Permitted : public testing::TestWithParam<Step> {};
TEST_P(Permitted, IsAccepted) {
    auto good = judged(GetParam());
    EXPECT_TRUE(good) << good.error().what;
}
INSTANTIATE_TEST_SUITE_P(
    Policy, Permitted,
    testing::Values(
        DataFile{"/etc/kubernetes/pki/ca.crt", DataKind::ca_bundle, kDigest, {}},
        Directory{"/etc/kubernetes", {}}, Directory{"/var/lib/kubelet/pki", {}},
        Symlink{"/etc/kubernetes/pki/a", "b"}, Claim{"/var/lib/kubelet/pki"},
        Claim{"/var/lib/kubelet", true}, Claim{"/run/netns", {}, "cni-"},
        Symlink{"/etc/kubernetes/pki/a", "/etc/kubernetes/pki/b"},
        ManagedBlock{"/etc/hosts", "names", {"10.0.0.5 h1"}}, DeletedTree{"/var/lib/kubelet"},
        Sysctl{"net.ipv4.ip_forward", "1"}, Sysctl{"net.bridge.bridge-nf-call-iptables", "1"},
        KernelModule{"overlay"}, SwapOff{}, UnitState{.name = "kubelet.service", .active = true},
        DaemonReload{{"kubelet.service"}},
        RenderedFile{Kubeconfig{.server = "https://10.0.0.1:6443"}},
        RenderedFile{Kubeconfig{.server = "https://api.example.com"}},
        RenderedFile{ContainerdConfiguration{.sandbox_image = "registry.k8s.io/pause:3.10"}},
        RenderedFile{ContainerdConfiguration{.sandbox_image = "library/pause:3.10"}},
        DataFile{"/etc/kubexm/registry-cas/a.crt", DataKind::ca_bundle, kDigest, {}},
        mirrored("docker.io", "https://registry.k8s.io"),
        mirrored("docker.io", "http://10.0.0.5:5000"),
        mirrored("10.0.0.5:5000", "https://10.0.0.5:5000"), pod_network("cni0"),
        ComponentVersion{"kubelet", "v1.34.1", {{"kubelet", kDigest, {0755}}}},
        TransientUnit{"kubexm-probe.service", {"/usr/local/bin/kubelet", "--version"}, 10}));

TEST_P(Permitted, IsRefusedWhereItsTypeIsNotListed) {
    AllowList none = allow();
    none.steps.clear();
    const auto refused = permitted({"p", "o", {GetParam()}}, none);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::denied);
    EXPECT_THAT(refused.error().what, testing::HasSubstr("is not in allow.steps"));
}

TEST(Policy, ADocumentIsRefusedWhereItsTypeIsNotListed) {
    AllowList none = allow();
    none.documents.clear();
    const Step file = RenderedFile{Kubeconfig{.server = "https://10.0.0.1:6443"}};
    const auto refused = permitted({"p", "o", {file}}, none);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, testing::HasSubstr("kubeconfig is not in allow.documents"));
}

struct Escape {
    Step step;
    Code code;
};

class Refused : public testing::TestWithParam<Escape> {};
TEST_P(Refused, NamesTheStepAndTheReason) {
    auto refused = judged(GetParam().step);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, GetParam().code) << refused.error().what;
    EXPECT_THAT(refused.error().what, testing::StartsWith("step 0 ("));
}
INSTANTIATE_TEST_SUITE_P(
    Policy, Refused,
    testing::Values(
        Escape{Claim{"/run/netns", {}, ""}, Code::denied},
        Escape{Claim{"/run/netns", {}, "c"}, Code::denied},
        Escape{Claim{"/run/netns", true}, Code::denied},
        Escape{Claim{"/run/netns/a", {}, "cni-"}, Code::denied},
        Escape{Claim{"/var/lib/kubelet", {}, ""}, Code::denied},
        Escape{Claim{"/var/lib/kubelet", true, "cni-"}, Code::denied},
        Escape{DataFile{"/etc/passwd", DataKind::ca_bundle, kDigest, {}}, Code::denied},
        Escape{DataFile{"/etc/kubernetes/pkix/ca.crt", DataKind::ca_bundle, kDigest, {}},
               Code::denied},
        Escape{DataFile{"/etc/kubernetes/pki/../../shadow", DataKind::ca_bundle, kDigest, {}},
               Code::invalid},
        Escape{DataFile{"/etc/kubernetes/pki/./ca.crt", DataKind::ca_bundle, kDigest, {}},
               Code::invalid},
        Escape{DataFile{"/etc/kubernetes//pki/ca.crt", DataKind::ca_bundle, kDigest, {}},
               Code::invalid},
        Escape{DataFile{"etc/kubernetes/pki/ca.crt", DataKind::ca_bundle, kDigest, {}},
               Code::invalid},
        Escape{DataFile{"/etc/kubernetes/pki/a\nb", DataKind::ca_bundle, kDigest, {}},
               Code::invalid},
        Escape{DataFile{"/etc/kubernetes/pki/ca.crt", DataKind::ca_bundle, "../x", {}},
               Code::invalid},
        Escape{DataFile{"/etc/cni/net.d/10-x.conflist", DataKind::ca_bundle, kDigest, {}},
               Code::denied},
        Escape{DataFile{"/etc/cni/net.d/ca.crt", DataKind::ca_bundle, kDigest, {}}, Code::denied},
        Escape{DataFile{"/etc/kubernetes/pki/ca.key", DataKind::ca_bundle, kDigest, {}},
               Code::denied},
        Escape{DataFile{"/etc/kubernetes/pki/.crt", DataKind::ca_bundle, kDigest, {}},
               Code::denied},
        Escape{DataFile{"/etc/kubexm/executor.yaml", DataKind::ca_bundle, kDigest, {}},
               Code::denied},
        Escape{mirrored("docker.io", "https://evil.example"), Code::denied},
        Escape{mirrored("docker.io", "http://registry.k8s.io"), Code::denied},
        Escape{mirrored("docker.io", "http://10.0.0.5"), Code::denied},
        Escape{mirrored("quay.io", "https://registry.k8s.io"), Code::denied},
        Escape{mirrored("../../../etc", "https://registry.k8s.io"), Code::invalid},
        Escape{pod_network("eth0"), Code::denied},
        Escape{SecretFile{"/etc/kubernetes/pki/x", "h", kDigest, {}}, Code::denied},
        Escape{DeletedTree{"/"}, Code::invalid}, Escape{DeletedTree{"/var/lib"}, Code::denied},
        Escape{DeletedTree{"/var/lib/kubelet/"}, Code::invalid},
        Escape{ManagedBlock{"/etc/shadow", "n", {}}, Code::denied},
        Escape{ManagedBlock{"/etc/hosts", "n", {"a\nroot::0:0"}}, Code::invalid},
        Escape{ManagedBlock{"/etc/hosts", "n\nm", {}}, Code::invalid},
        Escape{DataFile{"/etc/kubernetes/pki/x", DataKind::ca_bundle, kDigest, {Mode{04755}}},
               Code::denied},
        Escape{DataFile{"/etc/kubernetes/pki/x", DataKind::ca_bundle, kDigest, {Mode{0666}}},
               Code::denied},
        Escape{DataFile{"/etc/kubernetes/pki/x", DataKind::ca_bundle, kDigest, {Mode{0644}, 998}},
               Code::denied},
        Escape{Directory{"/etc/kubernetes", {Mode{0755}, 998}}, Code::denied},
        Escape{Directory{"/etc/kubernetes", {Mode{0775}}}, Code::denied},
        Escape{Directory{"/etc/kubernetes", {Mode{0750}, 0, 998}}, Code::denied},
        Escape{Directory{"/etc/kubernetes/\u2028pki", {}}, Code::invalid},
        Escape{Symlink{"/etc/kubernetes/pki/a", "/etc/shadow"}, Code::denied},
        Escape{Symlink{"/etc/kubernetes/pki/a", "../../shadow"}, Code::invalid},
        Escape{Symlink{"/etc/kubernetes/pki", "manifests"}, Code::denied},
        Escape{ManagedBlock{"/etc/hosts", "n", {"# kubexm end: n", "1.2.3.4 registry"}},
               Code::invalid},
        Escape{Sysctl{"kernel.core_pattern", "|/tmp/x"}, Code::denied},
        Escape{Sysctl{"net.bridge", "1"}, Code::denied},
        Escape{Sysctl{"net.bridge../../kernel/core_pattern", "1"}, Code::invalid},
        Escape{Sysctl{"net.ipv4.ip_forward", "1\n2"}, Code::invalid},
        Escape{Sysctl{"net.ipv4.ip_forward", ""}, Code::invalid},
        Escape{Sysctl{"net.ipv4.ip_forward", "|/tmp/x"}, Code::invalid},
        Escape{Sysctl{"net.bridge.-ignored", "1"}, Code::invalid},
        Escape{RenderedFile{SysctlFile{{{"kernel.modprobe", "x"}}}}, Code::denied},
        Escape{RenderedFile{ModulesFile{{"evil"}}}, Code::denied},
        Escape{RenderedFile{Kubeconfig{.server = "https://10.0.0.2:6443"}}, Code::denied},
        Escape{RenderedFile{Kubeconfig{.server = "https://10.0.0.1"}}, Code::denied},
        Escape{RenderedFile{Kubeconfig{.server = "https://10.0.0.1:6443.example.com"}},
               Code::invalid},
        Escape{RenderedFile{ContainerdConfiguration{.sandbox_image = "evil.example/pause:3.10"}},
               Code::denied},
        Escape{
            RenderedFile{ContainerdConfiguration{.sandbox_image = "registry.k8s.io:5000/pause:3"}},
            Code::denied},
        Escape{RenderedFile{KubeletService{.node_name = "n\nExecStartPre=/bin/sh"}}, Code::invalid},
        Escape{KernelModule{"evil"}, Code::denied},
        Escape{UnitState{.name = "ssh.service", .active = false}, Code::denied},
        Escape{DaemonReload{{"ssh.service"}}, Code::denied},
        Escape{TransientUnit{"kubexm-x.service", {"/bin/sh", "-c", "id"}, 1}, Code::denied},
        Escape{TransientUnit{"ssh.service", {"/usr/local/bin/kubelet"}, 1}, Code::denied},
        Escape{TransientUnit{"kubexm-executor.service", {"/usr/local/bin/kubelet"}, 1},
               Code::denied},
        Escape{TransientUnit{"kubexm-../x.service", {"/usr/local/bin/kubelet"}, 1}, Code::denied},
        Escape{TransientUnit{"kubexm-x.service", {}, 1}, Code::invalid},
        Escape{TransientUnit{"kubexm-x.service", {"/usr/local/bin/kubelet"}, 0}, Code::invalid},
        Escape{TransientUnit{"kubexm-x.service", {"/usr/local/bin/kubelet"}, 301}, Code::invalid},
        Escape{DataFile{"/etc/kubernetes/pki/x", DataKind::ca_bundle, kDigest, {{04755}}},
               Code::denied},
        Escape{DataFile{"/etc/kubernetes/pki/x", DataKind::ca_bundle, kDigest, {{0755}}},
               Code::denied},
        Escape{DataFile{"/etc/kubernetes/pki/x", DataKind::ca_bundle, kDigest, {{0666}}},
               Code::denied},
        Escape{Directory{"/etc/kubernetes/manifests", {{0755}, 1000, 0}}, Code::denied},
        Escape{Directory{"/etc/kubernetes/manifests", {{0777}}}, Code::denied},
        Escape{Directory{"/etc/kubernetes/manifests", {{02755}}}, Code::denied},
        Escape{ComponentVersion{"sshd", "v1.34.1", {{"kubelet", kDigest, {0755}}}}, Code::denied},
        Escape{ComponentVersion{"kubelet", "v2", {{"kubelet", kDigest, {0755}}}}, Code::denied},
        Escape{ComponentVersion{"kubelet", "v1.34.1", {{"kubectl", kDigest, {0755}}}},
               Code::denied},
        Escape{ComponentVersion{"kubelet", "v1.34.1", {{"kubelet", std::string(64, 'b'), {0755}}}},
               Code::denied},
        Escape{ComponentVersion{"kubelet", "v1.34.1", {{"kubelet", kDigest, {04755}}}},
               Code::denied},
        Escape{ComponentVersion{"kubelet", "v1.34.1", {{"../x/kubelet", kDigest, {0755}}}},
               Code::invalid},
        Escape{ComponentVersion{"kubelet", "../v1.34.1", {{"kubelet", kDigest, {0755}}}},
               Code::invalid},
        Escape{ComponentVersion{"kubelet", "current", {{"kubelet", kDigest, {0755}}}},
               Code::invalid},
        Escape{ComponentVersion{"kubelet", "v1.34.1", {}}, Code::invalid},
        Escape{Unmounted{"/"}, Code::invalid}, Escape{model::Claim{"/home"}, Code::denied}));

TEST(Policy, AnyRegistryIsOneWithEncryption) {
    AllowList any = allow();
    any.registries = {"*"};
    EXPECT_TRUE(
        permitted({"p", "machine-1", {mirrored("quay.io", "https://mirror.example")}}, any));
    const Plan plain{"p", "machine-1", {mirrored("quay.io", "http://mirror.example")}};
    EXPECT_FALSE(permitted(plain, any));
    any.registries.emplace_back("http://mirror.example");
    EXPECT_TRUE(permitted(plain, any));
}

TEST(PolicyOfOwners, ReservesMachinesForKubexmd) {
    constexpr std::uint32_t kAgent = 998;
    EXPECT_TRUE(may_apply_for("machine-1", false, kAgent));
    EXPECT_TRUE(may_apply_for("hardening", false, 0));
    EXPECT_EQ(may_apply_for("hardening", true, kAgent).error().code, Code::denied);
    EXPECT_EQ(may_apply_for("machine-learning", false, 0).error().code, Code::denied);
    EXPECT_TRUE(may_apply_for("machine-1", true, 0)) << "root helps out";
    EXPECT_TRUE(may_change_objects_of("machine-1", kAgent));
    EXPECT_TRUE(may_change_objects_of("machine-1", 0));
    EXPECT_EQ(may_change_objects_of("hardening", kAgent).error().code, Code::denied);
}

}  // namespace
}  // namespace kubexm::executor
