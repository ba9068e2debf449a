#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "daemon/base/grammar.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/render/documents.hpp"
#include "daemon/executor/render/validation.hpp"
#include "daemon/model/step_names.hpp"

namespace kubexm::executor {

namespace {

using model::KubeletConfiguration;

constexpr std::uint32_t kOldestMinor = 29;
constexpr std::uint32_t kNewestMinor = 36;
constexpr std::uint32_t kFailCgroupV1Since = 31;
constexpr std::size_t kMaxDnsServers = 3;  // kubelet's limit for a pod
constexpr std::uint32_t kMaxPods = 65534;  // addresses of a /16, the largest pod network of a node

Result<> validate(const KubeletConfiguration& configuration) {
    Validation validation;
    const std::uint32_t minor = configuration.minor;
    validation.that(minor >= kOldestMinor && minor <= kNewestMinor, "minor",
                    fmt::format("{} to {}, not {}: fields of other versions are unknown",
                                kOldestMinor, kNewestMinor, minor));
    validation.that(minor >= kFailCgroupV1Since || !configuration.fail_cgroup_v1, "fail_cgroup_v1",
                    fmt::format("false: 1.{} does not support it, 1.{} is the first", minor,
                                kFailCgroupV1Since));
    const auto& dns = configuration.cluster_dns;
    validation.that(!dns.empty() && dns.size() <= kMaxDnsServers, "cluster_dns",
                    fmt::format("1 to {} addresses, not {}", kMaxDnsServers, dns.size()));
    for (std::size_t i = 0; i < dns.size(); ++i) {
        validation.text(element("cluster_dns", i), dns[i], kDnsServer);
    }
    validation.text("cluster_domain", configuration.cluster_domain, kDnsName);
    validation.that(configuration.max_pods >= 1 && configuration.max_pods <= kMaxPods, "max_pods",
                    fmt::format("1 to {}, not {}", kMaxPods, configuration.max_pods));
    return validation.outcome();
}

/// Clients authenticate with the cluster's CA or the API server.
void emit_authentication(YAML::Emitter& out) {
    out << "authentication" << YAML::BeginMap;
    out << "anonymous" << YAML::BeginMap << "enabled" << false << YAML::EndMap;
    out << "webhook" << YAML::BeginMap << "enabled" << true << YAML::EndMap;
    out << "x509" << YAML::BeginMap << "clientCAFile" << model::kClientCa << YAML::EndMap;
    out << YAML::EndMap;
    out << "authorization" << YAML::BeginMap << "mode" << "Webhook" << YAML::EndMap;
}

/// Texts of the plan are quoted, so that a domain "1e3" or "true" stays a text.
void emit_cluster(YAML::Emitter& out, const KubeletConfiguration& configuration) {
    out << "cgroupDriver" << std::string(name_of(configuration.cgroup_driver));
    out << "clusterDNS" << YAML::BeginSeq;
    for (const std::string& server : configuration.cluster_dns) out << YAML::DoubleQuoted << server;
    out << YAML::EndSeq;
    out << "clusterDomain" << YAML::DoubleQuoted << configuration.cluster_domain;
    out << "containerRuntimeEndpoint" << "unix:///run/containerd/containerd.sock";
    if (configuration.minor >= kFailCgroupV1Since) {
        out << "failCgroupV1" << configuration.fail_cgroup_v1;
    }
    out << "failSwapOn" << configuration.fail_swap_on;
    out << "maxPods" << configuration.max_pods;
}

/// kubexmd renews the certificates of kubelet.conf. Without tlsCertFile kubelet signs its serving
/// certificate itself, for which it makes two RSA keys at its first start.
void emit_certificates(YAML::Emitter& out, const KubeletConfiguration& configuration) {
    if (configuration.serving_pair == true) {
        out << "tlsCertFile" << kServingPair;
        out << "tlsPrivateKeyFile" << kServingPair;
    }
    out << "rotateCertificates" << false;
    out << "serverTLSBootstrap" << false;
}

}  // namespace

Result<std::string> content_of(const KubeletConfiguration& configuration) {
    TRY(validate(configuration));
    YAML::Emitter out;
    out << YAML::BeginMap;
    out << "apiVersion" << "kubelet.config.k8s.io/v1beta1";
    out << "kind" << "KubeletConfiguration";
    emit_authentication(out);
    emit_cluster(out, configuration);
    emit_certificates(out, configuration);
    out << "staticPodPath" << "/etc/kubernetes/manifests";
    out << YAML::EndMap;
    return fmt::format("# {}\n{}\n", kNotice, out.c_str());
}

}  // namespace kubexm::executor
