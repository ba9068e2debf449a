#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <toml++/toml.h>
#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "daemon/executor/render/render.hpp"

namespace kubexm::executor {
namespace {

using namespace model;
using testing::HasSubstr, testing::StartsWith;

std::string content(const Document& document) {
    auto rendered = render(document);
    EXPECT_TRUE(rendered) << rendered.error().what;
    return rendered ? rendered->content : "";
}

std::string refusal(const Document& document) {
    auto rendered = render(document);
    EXPECT_FALSE(rendered);
    if (rendered) return "";
    EXPECT_EQ(rendered.error().code, Code::invalid);
    return rendered.error().what;
}

KubeletService service() { return {.node_name = "h1", .provider_id = "byoh://h1"}; }

KubeletConfiguration configuration() {
    return {.minor = 34, .cluster_dns = {"10.96.0.10"}, .cluster_domain = "cluster.local"};
}

TEST(KubeletService, NamesTheFirstMistake) {
    EXPECT_THAT(refusal(KubeletService{.node_name = "H1", .node_ip = "x", .provider_id = "y"}),
                StartsWith("node_name: expected a DNS name"));
}

TEST(KubeletService, NamesALabelThatKubeletRefuses) {
    KubeletService wanted = service();
    wanted.labels = {{"site", "a"}, {"node-role.kubernetes.io/worker", ""}};
    EXPECT_EQ(refusal(wanted),
              "labels[1].key: expected a label that kubelet may set, found "
              "node-role.kubernetes.io/worker");
}

TEST(KubeletService, RefusesADuplicateLabel) {
    KubeletService wanted = service();
    wanted.labels = {{"site", "a"}, {"rack", "7"}, {"site", "b"}};
    EXPECT_EQ(refusal(wanted), "labels[2]: expected site only once in the list");
}

TEST(KubeletService, RefusesADuplicateTaintPerEffect) {
    KubeletService wanted = service();
    wanted.taints = {{"gpu", "a", TaintEffect::no_schedule}, {"gpu", "", TaintEffect::no_execute}};
    EXPECT_THAT(content(wanted),
                HasSubstr("\"--register-with-taints=gpu=a:NoSchedule,gpu:NoExecute\""));
    wanted.taints.push_back({"gpu", "b", TaintEffect::no_schedule});
    EXPECT_EQ(refusal(wanted), "taints[2]: expected gpu:NoSchedule only once in the list");
}

/// The longest key there is, with a number in it.
std::string long_key(std::size_t number) {
    const std::string label(63, 'd');
    return label + "." + label + "." + label + "." + std::string(61, 'd') + "/" +
           std::to_string(1000 + number) + std::string(59, 'n');
}

TEST(KubeletService, FitsTheLongestListIntoOneArgument) {
    constexpr std::size_t kMaxArgument = std::size_t{128} * 1024;  // the kernel's MAX_ARG_STRLEN
    const std::string value(63, 'v');
    KubeletService labelled = service();
    KubeletService tainted = service();
    for (std::size_t i = 0; i < 256; ++i) {
        labelled.labels.push_back({long_key(i), value});
        tainted.taints.push_back({long_key(i), value, TaintEffect::prefer_no_schedule});
    }
    EXPECT_LT(content(labelled).size(), kMaxArgument);
    EXPECT_LT(content(tainted).size(), kMaxArgument);
    labelled.labels.push_back({"one-more", ""});
    EXPECT_EQ(refusal(labelled), "labels: expected at most 256 elements");
    tainted.taints.push_back({"one-more", "", TaintEffect::no_execute});
    EXPECT_EQ(refusal(tainted), "taints: expected at most 256 elements");
}

TEST(KubeletConfiguration, IsReadBackUnchanged) {
    KubeletConfiguration wanted = configuration();
    wanted.fail_cgroup_v1 = true;
    wanted.max_pods = 64;
    const YAML::Node file = YAML::Load(content(wanted));
    EXPECT_EQ(file["kind"].as<std::string>(), "KubeletConfiguration");
    EXPECT_EQ(file["clusterDNS"].as<std::vector<std::string>>(), wanted.cluster_dns);
    EXPECT_EQ(file["clusterDomain"].as<std::string>(), "cluster.local");
    EXPECT_EQ(file["cgroupDriver"].as<std::string>(), "systemd");
    EXPECT_TRUE(file["failSwapOn"].as<bool>());
    EXPECT_TRUE(file["failCgroupV1"].as<bool>());
    EXPECT_EQ(file["maxPods"].as<int>(), 64);
}

TEST(KubeletConfiguration, DisablesAnonymousAccessAndRotation) {
    const YAML::Node file = YAML::Load(content(configuration()));
    EXPECT_FALSE(file["authentication"]["anonymous"]["enabled"].as<bool>());
    EXPECT_EQ(file["authorization"]["mode"].as<std::string>(), "Webhook");
    EXPECT_EQ(file["authentication"]["x509"]["clientCAFile"].as<std::string>(),
              "/etc/kubernetes/pki/client-ca.crt");
    EXPECT_FALSE(file["rotateCertificates"].as<bool>());
    EXPECT_FALSE(file["serverTLSBootstrap"].as<bool>());
    EXPECT_FALSE(file["tlsCertFile"]);
}

TEST(KubeletConfiguration, QuotesADomainThatLooksLikeANumber) {
    for (const std::string domain : {"1e3", "true", "null", "0x10", "12", "1.5", "no", "y"}) {
        KubeletConfiguration wanted = configuration();
        wanted.cluster_domain = domain;
        const YAML::Node file = YAML::Load(content(wanted));
        EXPECT_EQ(file["clusterDomain"].as<std::string>(), domain);
        EXPECT_EQ(file["clusterDomain"].Tag(), "!") << domain << " is not quoted";
    }
}

TEST(KubeletConfiguration, KnowsTheVersionsFrom29To36) {
    for (std::uint32_t minor = 29; minor <= 36; ++minor) {
        KubeletConfiguration wanted = configuration();
        wanted.minor = minor;
        const YAML::Node file = YAML::Load(content(wanted));
        EXPECT_EQ(file["failCgroupV1"].IsDefined(), minor >= 31) << minor;
    }
    for (const std::uint32_t minor : {0U, 28U, 37U, UINT32_MAX}) {
        KubeletConfiguration wanted = configuration();
        wanted.minor = minor;
        EXPECT_EQ(refusal(wanted), "minor: expected 29 to 36, not " + std::to_string(minor) +
                                       ": fields of other versions are unknown");
    }
}

TEST(KubeletConfiguration, RefusesAFieldThatTheVersionDoesNotSupport) {
    KubeletConfiguration wanted = configuration();
    wanted.minor = 30;
    wanted.fail_cgroup_v1 = true;
    EXPECT_EQ(refusal(wanted),
              "fail_cgroup_v1: expected false: 1.30 does not support it, 1.31 is the first");
}

TEST(KubeletConfiguration, BoundsDnsServersAndPods) {
    KubeletConfiguration wanted = configuration();
    wanted.cluster_dns = {};
    EXPECT_EQ(refusal(wanted), "cluster_dns: expected 1 to 3 addresses, not 0");
    wanted.cluster_dns = {"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"};
    EXPECT_EQ(refusal(wanted), "cluster_dns: expected 1 to 3 addresses, not 4");
    wanted = configuration();
    for (const std::uint32_t pods : {0U, 65535U, UINT32_MAX}) {
        wanted.max_pods = pods;
        EXPECT_THAT(refusal(wanted), HasSubstr("max_pods: expected 1 to 65534")) << pods;
    }
}

TEST(KubeletConfiguration, NamesTheServingPairWhereThereIsOne) {
    model::KubeletConfiguration wanted = configuration();
    EXPECT_FALSE(YAML::Load(content(wanted))["tlsCertFile"]) << "kubelet would not start";
    wanted.serving_pair = true;
    const YAML::Node file = YAML::Load(content(wanted));
    const std::string pair = "/var/lib/kubelet/pki/kubelet-server-current.pem";
    EXPECT_EQ(file["tlsCertFile"].as<std::string>(), pair);
    EXPECT_EQ(file["tlsPrivateKeyFile"].as<std::string>(), pair);
}

TEST(Kubeconfig, IsReadBackUnchanged) {
    const YAML::Node file =
        YAML::Load(content(Kubeconfig{KubeconfigUser::kubelet, "https://[fd00::1]:6443"}));
    const YAML::Node context = file["contexts"][0];
    EXPECT_EQ(file["current-context"].as<std::string>(), context["name"].as<std::string>());
    EXPECT_EQ(context["context"]["cluster"].as<std::string>(),
              file["clusters"][0]["name"].as<std::string>());
    EXPECT_EQ(context["context"]["user"].as<std::string>(),
              file["users"][0]["name"].as<std::string>());
    EXPECT_EQ(file["clusters"][0]["cluster"]["server"].as<std::string>(), "https://[fd00::1]:6443");
    EXPECT_FALSE(file["clusters"][0]["cluster"]["insecure-skip-tls-verify"]);
}

TEST(Kubeconfig, HasTheServersTlsName) {
    Kubeconfig wanted{KubeconfigUser::kubelet, "https://10.0.0.1:6443", "kubernetes.default.svc"};
    const YAML::Node file = YAML::Load(content(wanted));
    EXPECT_EQ(file["clusters"][0]["cluster"]["tls-server-name"].as<std::string>(),
              "kubernetes.default.svc");
    wanted.server_name = "a\nb";
    EXPECT_THAT(refusal(wanted), HasSubstr("server_name: expected a DNS name"));
}

TEST(Kubeconfig, ReferencesFiles) {
    const YAML::Node file = YAML::Load(content(Kubeconfig{KubeconfigUser::kubelet, "https://a"}));
    EXPECT_FALSE(file["clusters"][0]["cluster"]["tls-server-name"]);
    const YAML::Node user = file["users"][0]["user"];
    EXPECT_EQ(user["client-certificate"].as<std::string>(),
              "/var/lib/kubelet/pki/kubelet-client-current.pem");
    EXPECT_EQ(user["client-key"].as<std::string>(), user["client-certificate"].as<std::string>());
    EXPECT_EQ(user.size(), 2U);
}

TEST(ContainerdConfiguration, UsesTheKeysOf1x) {
    const toml::table file = toml::parse(content(
        ContainerdConfiguration{.version = 2, .sandbox_image = "reg.example.com:5000/pause:3"}));
    EXPECT_EQ(file["version"].value<int>(), 2);
    const auto cri = file["plugins"]["io.containerd.grpc.v1.cri"];
    EXPECT_EQ(cri["sandbox_image"].value<std::string>(), "reg.example.com:5000/pause:3");
    EXPECT_EQ(cri["registry"]["config_path"].value<std::string>(), "/etc/containerd/certs.d");
    const auto runc = cri["containerd"]["runtimes"]["runc"];
    EXPECT_EQ(runc["runtime_type"].value<std::string>(), "io.containerd.runc.v2");
    EXPECT_EQ(runc["options"]["SystemdCgroup"].value<bool>(), true);
}

TEST(ContainerdConfiguration, UsesTheKeysOf2x) {
    const toml::table file = toml::parse(
        content(ContainerdConfiguration{.version = 3,
                                        .cgroup_driver = CgroupDriver::cgroupfs,
                                        .sandbox_image = "reg.example.com:5000/pause:3"}));
    EXPECT_EQ(file["version"].value<int>(), 3);
    const auto images = file["plugins"]["io.containerd.cri.v1.images"];
    EXPECT_EQ(images["pinned_images"]["sandbox"].value<std::string>(),
              "reg.example.com:5000/pause:3");
    EXPECT_EQ(images["registry"]["config_path"].value<std::string>(), "/etc/containerd/certs.d");
    const auto runc =
        file["plugins"]["io.containerd.cri.v1.runtime"]["containerd"]["runtimes"]["runc"];
    EXPECT_EQ(runc["runtime_type"].value<std::string>(), "io.containerd.runc.v2");
    EXPECT_EQ(runc["options"]["SystemdCgroup"].value<bool>(), false);
}

TEST(ContainerdConfiguration, RefusesOtherVersions) {
    for (const std::uint32_t version : {0U, 1U, 4U}) {
        EXPECT_EQ(
            refusal(ContainerdConfiguration{.version = version, .sandbox_image = "pause"}),
            "version: expected 2 for containerd 1.x or 3 for 2.x, not " + std::to_string(version));
    }
}

RegistryHosts hosts(std::vector<RegistryMirror> mirrors) {
    return {.registry = "docker.io", .mirrors = std::move(mirrors)};
}

const std::vector<RegistryCapability> kPull{RegistryCapability::pull};

TEST(RegistryHosts, KeepsTheOrderOfTheMirrors) {
    const std::string text = content(hosts({{"https://z", kPull, ""}, {"https://a", kPull, ""}}));
    EXPECT_LT(text.find("https://z"), text.find("https://a")) << "containerd asks in this order";
    const toml::table file = toml::parse(text);
    EXPECT_EQ(file["host"]["https://a"]["capabilities"][0].value<std::string>(), "pull");
    EXPECT_FALSE(file["host"]["https://a"]["ca"]);
    EXPECT_FALSE(file["host"]["https://a"]["skip_verify"]);
    EXPECT_EQ(render(hosts({{"https://a", kPull, ""}}))->path,
              "/etc/containerd/certs.d/docker.io/hosts.toml");
}

TEST(RegistryHosts, IsForOneRegistryWithMirrors) {
    EXPECT_EQ(refusal(hosts({})), "mirrors: expected at least one");
    RegistryHosts all = hosts({{"https://a", kPull, ""}});
    all.registry = "_default";
    EXPECT_THAT(refusal(all), StartsWith("registry: expected HOST or HOST:PORT"));
    all.registry = "..";
    EXPECT_THAT(refusal(all), StartsWith("registry: expected HOST or HOST:PORT"));
}

TEST(RegistryHosts, RefusesMirrorsThatContradictThemselves) {
    EXPECT_EQ(refusal(hosts({{"https://a", kPull, ""}, {"https://a", kPull, ""}})),
              "mirrors[1]: expected https://a only once in the list");
    EXPECT_EQ(refusal(hosts({{"https://a", {}, ""}})),
              "mirrors[0].capabilities: expected pull, resolve or both");
    EXPECT_EQ(refusal(hosts({{"https://a", {kPull[0], kPull[0]}, ""}})),
              "mirrors[0].capabilities[1]: expected pull only once in the list");
    EXPECT_EQ(refusal(hosts({{"http://a", kPull, "a.crt"}})),
              "mirrors[0].ca: expected none for an http:// endpoint");
    EXPECT_THAT(refusal(hosts({{"https://a/v2", kPull, ""}})),
                StartsWith("mirrors[0].endpoint: expected https://"));
    EXPECT_THAT(refusal(hosts({{"https://a", kPull, "../ca.crt"}})),
                StartsWith("mirrors[0].ca: expected a file name"));
}

CniConfiguration network() {
    return {.name = "pods", .bridge = "cni0", .ipv4_subnet = "10.244.1.0/24"};
}

TEST(CniConfiguration, LeavesOutWhatIsNotSet) {
    const auto file = nlohmann::json::parse(content(network()));
    const auto& bridge = file["plugins"][0];
    EXPECT_FALSE(bridge.contains("mtu"));
    EXPECT_EQ(bridge["ipam"]["ranges"].dump(), R"([[{"subnet":"10.244.1.0/24"}]])");
    EXPECT_EQ(bridge["ipam"]["routes"].dump(), R"([{"dst":"0.0.0.0/0"}])");
    EXPECT_TRUE(bridge["ipMasq"].get<bool>());
    EXPECT_EQ(file["plugins"].size(), 2U);
}

TEST(CniConfiguration, NeedsASubnetOfTheRightFamily) {
    CniConfiguration wanted = network();
    wanted.ipv6_subnet = "10.244.2.0/24";
    EXPECT_THAT(refusal(wanted), StartsWith("ipv6_subnet: expected an IPv6 network"));
    wanted.ipv6_subnet = "fd00::/64";
    wanted.ipv4_subnet = "";
    EXPECT_THAT(content(wanted), HasSubstr("\"dst\": \"::/0\""));
    wanted.ipv6_subnet = "";
    EXPECT_EQ(refusal(wanted), "ipv4_subnet: expected a network here or in ipv6_subnet");
}

TEST(CniConfiguration, BoundsTheMtu) {
    CniConfiguration wanted = network();
    for (const std::uint32_t mtu : {1U, 1279U, 65536U, UINT32_MAX}) {
        wanted.mtu = mtu;
        EXPECT_EQ(refusal(wanted), "mtu: expected 0 or 1280 to 65535, not " + std::to_string(mtu));
    }
}

TEST(ProxyDropIn, SetsTheGivenVariables) {
    EXPECT_THAT(content(ProxyDropIn{.https_proxy = "http://p:1"}),
                HasSubstr("\nEnvironment=\"HTTPS_PROXY=http://p:1\"\n"));
    EXPECT_THAT(content(ProxyDropIn{.http_proxy = "http://p:1", .no_proxy = "*"}),
                HasSubstr("\nEnvironment=\"HTTP_PROXY=http://p:1\" \"NO_PROXY=*\"\n"));
    EXPECT_EQ(refusal(ProxyDropIn{.no_proxy = "a"}),
              "https_proxy: expected a proxy here or in http_proxy");
}

TEST(ProxyDropIn, RefusesAPasswordWithoutQuotingIt) {
    const std::string what = refusal(ProxyDropIn{.http_proxy = "http://user:canary@p:3128"});
    EXPECT_THAT(what, HasSubstr("http_proxy: expected"));
    EXPECT_THAT(what, HasSubstr("without user and password"));
    EXPECT_THAT(what, Not(HasSubstr("canary")));
}

TEST(HostFiles, RefuseADuplicateKey) {
    EXPECT_EQ(refusal(SysctlFile{{{"net.ipv4.ip_forward", "1"}, {"net.ipv4.ip_forward", "0"}}}),
              "values[1]: expected net.ipv4.ip_forward only once in the list");
    EXPECT_EQ(refusal(ModulesFile{{"overlay", "overlay"}}),
              "modules[1]: expected overlay only once in the list");
}

}  // namespace
}  // namespace kubexm::executor
