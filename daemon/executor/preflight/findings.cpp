#include "daemon/executor/preflight/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <iterator>
#include <utility>

#include "daemon/base/grammar.hpp"
#include "daemon/base/host_names.hpp"
#include "daemon/base/text.hpp"
#include "daemon/model/cluster_rule.hpp"
#include "daemon/model/step_names.hpp"

namespace kubexm::executor {

namespace {

using model::CheckId;
using model::Finding;
using model::JoinNeeds;
using model::Severity;

/// Since then the kernel tells mounts apart (STATX_MNT_ID); before, no tree can be removed safely.
constexpr std::pair<std::uint32_t, std::uint32_t> kOldestKernel{5, 8};

struct Subject {
    const PreflightFacts& facts;
    const JoinNeeds& needs;
    bool is_own_node;
};

using Found = std::optional<Finding>;

/// The two numbers in "6.1.0-25-amd64" or "1.34.1".
std::pair<std::uint32_t, std::uint32_t> numbers_in(const std::string& text) {
    std::pair<std::uint32_t, std::uint32_t> found;
    const char* const end = text.data() + text.size();
    const auto major = std::from_chars(text.data(), end, found.first);
    if (major.ec != std::errc() || major.ptr == end) return found;
    std::from_chars(major.ptr + 1, end, found.second);
    return found;
}

/// The first ten.
std::string listed(const std::vector<std::string>& names) {
    constexpr std::ptrdiff_t kMost = 10;
    const auto end = std::ranges::next(names.begin(), kMost, names.end());
    return fmt::format("{}{}", fmt::join(names.begin(), end, ", "),
                       end == names.end() ? "" : ", ...");
}

Found kubelet_active(const Subject& of) {
    if (of.is_own_node || !of.facts.kubelet_active) return {};
    return Finding{CheckId::kubelet_active, Severity::error, "kubelet.service is active",
                   "no kubelet of another installation",
                   "release this host from its cluster (kubeadm reset), or: systemctl disable "
                   "--now kubelet"};
}

Found kubelet_enabled(const Subject& of) {
    if (of.is_own_node || of.facts.kubelet_active || !of.facts.kubelet_enabled) return {};
    return Finding{CheckId::kubelet_enabled, Severity::error, "kubelet.service is enabled",
                   "no kubelet of another installation", "systemctl disable kubelet"};
}

Found kubeconfig_present(const Subject& of) {
    if (of.is_own_node || of.facts.kubeconfigs.empty()) return {};
    return Finding{CheckId::kubeconfig_present, Severity::error, listed(of.facts.kubeconfigs),
                   "no kubeconfig of a kubelet that kubexm did not write",
                   "release this host from its cluster (kubeadm reset), or remove the file"};
}

Found static_pods_present(const Subject& of) {
    if (of.is_own_node || of.facts.manifests.empty()) return {};
    return Finding{CheckId::static_pods_present, Severity::error, listed(of.facts.manifests),
                   "an empty /etc/kubernetes/manifests: kubelet would run the pods in it",
                   "move the files elsewhere"};
}

Found pods_present(const Subject& of) {
    if (of.is_own_node || of.facts.pods == 0) return {};
    return Finding{CheckId::pods_present, Severity::error,
                   fmt::format("{} pods in the container runtime", of.facts.pods),
                   "none: a new kubelet would end them",
                   "crictl pods lists them; crictl stopp ID and crictl rmp ID remove one"};
}

Found kubelet_drop_in(const Subject& of) {
    if (of.facts.drop_ins.empty()) return {};
    return Finding{CheckId::kubelet_drop_in, Severity::error, listed(of.facts.drop_ins),
                   "kubelet.service started as kubexm writes it",
                   "remove the file, or the package that it belongs to"};
}

Found kubelet_missing(const Subject& of) {
    if (!of.facts.kubelet) return {};
    return Finding{CheckId::kubelet_missing, Severity::error, of.facts.kubelet->what,
                   "a kubelet that can be run",
                   fmt::format("install kubelet{} as /usr/local/bin/kubelet, mode 0755",
                               of.needs.minor == 0 ? "" : fmt::format(" 1.{}", of.needs.minor))};
}

Found kubelet_version(const Subject& of) {
    if (of.facts.kubelet || of.needs.minor == 0) return {};
    const auto [major, minor] = numbers_in(of.facts.version.substr(1));
    if (major == 1 && minor == of.needs.minor) return {};
    return Finding{CheckId::kubelet_version, Severity::error,
                   fmt::format("/usr/local/bin/kubelet {}", of.facts.version),
                   fmt::format("kubelet 1.{}, as ordered", of.needs.minor),
                   fmt::format("install kubelet 1.{} as /usr/local/bin/kubelet, or order version "
                               "{}",
                               of.needs.minor, of.facts.version)};
}

Found runtime_silent(const Subject& of) {
    if (!of.facts.runtime) return {};
    return Finding{CheckId::runtime_silent, Severity::error, of.facts.runtime->what,
                   "containerd at /run/containerd/containerd.sock",
                   "systemctl enable --now containerd; journalctl -u containerd says why it fails"};
}

Found cri_disabled(const Subject& of) {
    if (of.facts.runtime || !of.facts.cri) return {};
    return Finding{CheckId::cri_disabled, Severity::error, of.facts.cri->what,
                   "containerd with its CRI plugin",
                   "remove cri from disabled_plugins in /etc/containerd/config.toml, then: "
                   "systemctl restart containerd"};
}

Found cgroup_driver(const Subject& of) {
    if (!of.facts.cgroup_driver || *of.facts.cgroup_driver == of.needs.cgroup_driver) return {};
    const bool systemd = of.needs.cgroup_driver == model::CgroupDriver::systemd;
    return Finding{CheckId::cgroup_driver, Severity::error,
                   fmt::format("containerd uses {}", name_of(*of.facts.cgroup_driver)),
                   fmt::format("{}, as kubelet will", name_of(of.needs.cgroup_driver)),
                   fmt::format("set SystemdCgroup = {} in the options of runc in "
                               "/etc/containerd/config.toml, then: systemctl restart containerd",
                               systemd)};
}

Found swap_on(const Subject& of) {
    if (!of.needs.fail_swap_on || of.facts.swaps.empty()) return {};
    return Finding{CheckId::swap_on, Severity::error, "swap on " + listed(of.facts.swaps),
                   "no swap: kubelet does not start with it",
                   "swapoff --all, and remove the entry from /etc/fstab; or failSwapOn: false in "
                   "the cluster's kubelet configuration"};
}

Found kernel_version(const Subject& of) {
    if (numbers_in(of.facts.kernel) >= kOldestKernel) return {};
    return Finding{CheckId::kernel_version, Severity::error, "Linux " + of.facts.kernel,
                   fmt::format("Linux {}.{} or newer: this host could join, but not be released",
                               kOldestKernel.first, kOldestKernel.second),
                   "upgrade the kernel"};
}

/// kubelet and certificates need a name of at most 63 characters.
Found host_name(const Subject& of) {
    const std::string& name = of.needs.node_name;
    constexpr std::size_t kLongest = 63;
    if (!is_local_name(name) && name.size() <= kLongest) return {};
    return Finding{CheckId::host_name, Severity::error,
                   fmt::format("host name \"{}\"", printable(name)),
                   "a name of its own with at most 63 characters",
                   "hostnamectl set-hostname NAME, then: systemctl restart kubexmd"};
}

Found port_taken(const Subject& of) {
    if (of.is_own_node || of.facts.kubelet_active || !of.facts.port_taken) return {};
    return Finding{CheckId::port_taken, Severity::error, "TCP port 10250 is in use",
                   "a free port for kubelet",
                   "ss -ltnp 'sport = :10250' names the process; stop it"};
}

Found network_tools(const Subject& of) {
    if (of.facts.missing_tools.empty()) return {};
    return Finding{CheckId::network_tools, Severity::warning,
                   "missing: " + listed(of.facts.missing_tools),
                   "the tools that pod networks and kube-proxy call",
                   "install them: apt install iptables nftables conntrack, or dnf install "
                   "iptables-nft nftables conntrack-tools"};
}

/// Before the certificate: root would refuse the plan.
Found cluster_allowed(const Subject& of) {
    const std::string& server = of.needs.server;
    if (server.empty()) return {};
    if (!kServerUrl.holds(server)) {
        return Finding{CheckId::cluster_allowed, Severity::error,
                       fmt::format("API server \"{}\"", printable(server)),
                       std::string(kServerUrl.words),
                       "correct the server in the kubeconfig of the bootstrap secret"};
    }
    if (model::rule_for(of.facts.allowed_clusters, server)) return {};
    return Finding{CheckId::cluster_allowed, Severity::error,
                   fmt::format("{} is not in allow.clusters", server),
                   "an API server that root of this host permits",
                   "add its HOST:PORT to allow.clusters in /etc/kubexm/executor.yaml, then: "
                   "systemctl reload kubexm-executor"};
}

}  // namespace

std::vector<Finding> findings_of(const PreflightFacts& facts, const JoinNeeds& needs,
                                 bool is_own_node) {
    const Subject subject{facts, needs, is_own_node || facts.kubelet_is_ours};
    std::vector<Finding> found;
    for (const auto check :
         {kubelet_active, kubelet_enabled, kubeconfig_present, static_pods_present, pods_present,
          kubelet_drop_in, kubelet_missing, kubelet_version, runtime_silent, cri_disabled,
          cgroup_driver, swap_on, kernel_version, host_name, port_taken, network_tools,
          cluster_allowed}) {
        if (auto finding = check(subject)) found.push_back(*std::move(finding));
    }
    return found;
}

bool is_about_foreign_nodes(CheckId check) {
    return check == CheckId::kubelet_active || check == CheckId::kubelet_enabled ||
           check == CheckId::kubeconfig_present || check == CheckId::static_pods_present ||
           check == CheckId::pods_present;
}

JoinNeeds join_needs_of(const model::Plan& plan) {
    JoinNeeds needs;
    for (const model::Step& step : plan.steps) {
        const auto* file = std::get_if<model::RenderedFile>(&step);
        if (file == nullptr) continue;
        if (const auto* kubelet = std::get_if<model::KubeletConfiguration>(&file->document)) {
            needs.minor = kubelet->minor;
            needs.cgroup_driver = kubelet->cgroup_driver;
            needs.fail_swap_on = kubelet->fail_swap_on;
        }
        if (const auto* service = std::get_if<model::KubeletService>(&file->document)) {
            needs.node_name = service->node_name;
        }
    }
    return needs;
}
}  // namespace kubexm::executor
