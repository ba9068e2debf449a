#include "daemon/kube/kubelet_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "daemon/base/text.hpp"
#include "daemon/kube/fields.hpp"
#include "daemon/kube/yaml.hpp"
#include "daemon/model/names.hpp"

namespace kubexm::kube {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 5> kDone{"cgroupDriver", "clusterDNS", "clusterDomain",
                                                "failSwapOn", "maxPods"};
constexpr std::array<std::string_view, 13> kOurs{
    "apiVersion",         "kind",          "authentication",     "authorization",
    "rotateCertificates", "staticPodPath", "serverTLSBootstrap", "tlsCertFile",
    "tlsPrivateKeyFile",  "failCgroupV1",  "healthzBindAddress", "containerRuntimeEndpoint",
    "healthzPort"};

std::unexpected<Error> expected(const char* field, const char* what) {
    return fail(Code::invalid, fmt::format("{}: expected {}", field, what));
}

Result<> read_driver(const json& config, model::KubeletSettings& wishes) {
    const std::string driver = text_at(config, {"cgroupDriver"});
    if (driver.empty()) return {};
    for (const auto& [value, word] : Names<model::CgroupDriver>::kAll) {
        if (word != driver) continue;
        wishes.cgroup_driver = value;
        return {};
    }
    return expected("cgroupDriver", "systemd or cgroupfs");
}

Result<> read_dns(const json& config, model::KubeletSettings& wishes) {
    const json& servers = at(config, {"clusterDNS"});
    if (servers.is_null()) return {};
    if (!servers.is_array()) return expected("clusterDNS", "a list of addresses");
    for (const json& server : servers) {
        if (!server.is_string()) return expected("clusterDNS", "a list of addresses");
        wishes.cluster_dns.push_back(server.get<std::string>());
    }
    return {};
}

Result<> read_numbers(const json& config, model::KubeletSettings& wishes) {
    const std::string swap = text_at(config, {"failSwapOn"});
    if (!swap.empty() && swap != "true" && swap != "false") {
        return expected("failSwapOn", "true or false");
    }
    wishes.fail_swap_on = swap != "false";
    const std::string pods = text_at(config, {"maxPods"});
    if (pods.empty()) return {};
    const char* const end = pods.data() + pods.size();
    const auto read = std::from_chars(pods.data(), end, wishes.max_pods);
    if (read.ec != std::errc() || read.ptr != end) return expected("maxPods", "a number");
    return {};
}

/// kubelet starts without, but then no pod resolves a name: kubeadm's address is the best guess.
model::KubeletSettings with_dns(model::KubeletSettings wishes, std::vector<std::string>& notes) {
    if (!wishes.cluster_dns.empty()) return wishes;
    wishes.cluster_dns = {"10.96.0.10"};
    notes.emplace_back("no clusterDNS is given: 10.96.0.10 is taken");
    return wishes;
}

void note_the_rest(const json& config, std::vector<std::string>& notes) {
    for (const auto& [field, value] : config.items()) {
        if (std::ranges::find(kDone, field) != kDone.end()) continue;
        if (std::ranges::find(kOurs, field) != kOurs.end()) continue;
        notes.push_back(
            fmt::format("kubelet-config.yaml: {:.64} is not taken over", printable(field)));
    }
}

}  // namespace

Result<model::KubeletSettings> wishes_from_kubelet_config(std::string_view yaml,
                                                          std::vector<std::string>& notes) {
    model::KubeletSettings wishes;
    if (yaml.empty()) return with_dns(wishes, notes);
    auto config = json_from_yaml(yaml);
    if (!config) return std::unexpected(config.error());
    if (text_at(*config, {"kind"}) != "KubeletConfiguration") {
        return expected("kind", "KubeletConfiguration");
    }
    if (const std::string domain = text_at(*config, {"clusterDomain"}); !domain.empty()) {
        wishes.cluster_domain = domain;
    }
    for (const auto read : {read_driver, read_dns, read_numbers}) {
        if (auto good = read(*config, wishes); !good) return std::unexpected(good.error());
    }
    note_the_rest(*config, notes);
    return with_dns(std::move(wishes), notes);
}

}  // namespace kubexm::kube
