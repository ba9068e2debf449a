#include "daemon/kube/kubelet_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"
#include "daemon/kube/fields.hpp"
#include "daemon/kube/kubeconfig_yaml.hpp"
#include "daemon/model/step_names.hpp"

namespace kubexm::kube {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 5> kSupported{"cgroupDriver", "clusterDNS", "clusterDomain",
                                                     "failSwapOn", "maxPods"};
constexpr std::array<std::string_view, 13> kSetByKubexmd{
    "apiVersion",         "kind",          "authentication",     "authorization",
    "rotateCertificates", "staticPodPath", "serverTLSBootstrap", "tlsCertFile",
    "tlsPrivateKeyFile",  "failCgroupV1",  "healthzBindAddress", "containerRuntimeEndpoint",
    "healthzPort"};

std::unexpected<Error> expected(const char* field, const char* what) {
    return fail(Code::invalid, fmt::format("{}: expected {}", field, what));
}

Result<> read_driver(const json& config, model::KubeletSettings& settings) {
    const std::string driver = text_at(config, {"cgroupDriver"});
    if (driver.empty()) return {};
    const auto named = from_name<model::CgroupDriver>(driver);
    if (!named) return expected("cgroupDriver", "systemd or cgroupfs");
    settings.cgroup_driver = *named;
    return {};
}

Result<> read_dns(const json& config, model::KubeletSettings& settings) {
    const json& servers = at(config, {"clusterDNS"});
    if (servers.is_null()) return {};
    if (!servers.is_array()) return expected("clusterDNS", "a list of addresses");
    for (const json& server : servers) {
        if (!server.is_string()) return expected("clusterDNS", "a list of addresses");
        settings.cluster_dns.push_back(server.get<std::string>());
    }
    return {};
}

Result<> read_numbers(const json& config, model::KubeletSettings& settings) {
    const std::string swap = text_at(config, {"failSwapOn"});
    if (!swap.empty() && swap != "true" && swap != "false") {
        return expected("failSwapOn", "true or false");
    }
    settings.fail_swap_on = swap != "false";
    const std::string pods = text_at(config, {"maxPods"});
    if (pods.empty()) return {};
    const char* const end = pods.data() + pods.size();
    const auto read = std::from_chars(pods.data(), end, settings.max_pods);
    if (read.ec != std::errc() || read.ptr != end) return expected("maxPods", "a number");
    return {};
}

/// Without it kubelet starts, but pods resolve no names. kubeadm's default is the best guess.
model::KubeletSettings with_dns(model::KubeletSettings settings, std::vector<std::string>& notes) {
    if (!settings.cluster_dns.empty()) return settings;
    settings.cluster_dns = {"10.96.0.10"};
    notes.emplace_back("kubelet-config.yaml: no clusterDNS; using 10.96.0.10");
    return settings;
}

void note_ignored(const json& config, std::vector<std::string>& notes) {
    for (const auto& [field, value] : config.items()) {
        if (std::ranges::find(kSupported, field) != kSupported.end()) continue;
        if (std::ranges::find(kSetByKubexmd, field) != kSetByKubexmd.end()) continue;
        notes.push_back(fmt::format("kubelet-config.yaml: {:.64} is ignored", printable(field)));
    }
}

}  // namespace

Result<model::KubeletSettings> settings_from_kubelet_config(std::string_view yaml,
                                                            std::vector<std::string>& notes) {
    model::KubeletSettings settings;
    if (yaml.empty()) return with_dns(settings, notes);
    const auto config = TRY(json_from_yaml(yaml));
    if (text_at(config, {"kind"}) != "KubeletConfiguration") {
        return expected("kind", "KubeletConfiguration");
    }
    if (const std::string domain = text_at(config, {"clusterDomain"}); !domain.empty()) {
        settings.cluster_domain = domain;
    }
    for (const auto read : {read_driver, read_dns, read_numbers}) {
        TRY(read(config, settings));
    }
    note_ignored(config, notes);
    return with_dns(std::move(settings), notes);
}

}  // namespace kubexm::kube
