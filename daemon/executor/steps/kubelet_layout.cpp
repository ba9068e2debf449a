#include "daemon/executor/steps/kubelet_layout.hpp"

#include <algorithm>
#include <array>

#include "daemon/base/scan.hpp"

namespace kubexm::executor::kubelet_layout {

namespace {

constexpr std::string_view kPods = "/var/lib/kubelet/pods/";

/// From pkg/kubelet/config/defaults.go and the managers of Kubernetes 1.29 to 1.36; config.yaml and
/// pki are in every node of ours, too. Managers keep their state in files with one ending.
constexpr std::array<std::string_view, 10> kOfKubelet{
    "checkpoints", "config.yaml", "device-plugins",   "image_manager",     "pki",
    "plugins",     "pods",        "plugins_registry", "plugin-containers", "pod-resources"};
constexpr std::string_view kState = "_state";

/// Of one pod, where kubelet and volume plugins mount.
constexpr std::array<std::string_view, 5> kOfOnePod{"containers", "plugins", "volumeDevices",
                                                    "volume-subpaths", "volumes"};

/// Mounts of the plugins that kubelet manages. The directory of a driver beside it has its socket.
constexpr std::array<std::string_view, 2> kWithMounts{"/var/lib/kubelet/plugins/kubernetes.io/",
                                                      "/run/containerd/"};

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

/// A UUID, or for a static pod the digest of its manifest.
bool is_pod_uid(std::string_view name) {
    constexpr std::string_view kUuid = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    constexpr std::size_t kDigest = 32;
    if (name.size() == kDigest) return made_of(name, is_hex);
    return std::ranges::equal(
        name, kUuid, [](char c, char form) { return form == 'x' ? is_hex(c) : c == form; });
}

bool is_of_kubelet(std::string_view name) {
    return name.ends_with(kState) || std::ranges::find(kOfKubelet, name) != kOfKubelet.end();
}

/// kubelet-client-current.pem, kubelet.crt, ...
bool is_pair_of_kubelet(std::string_view name) { return name.starts_with("kubelet"); }

/// NAMESPACE_POD_UID
bool is_directory_of_logs(std::string_view name) {
    return std::ranges::count(name, '_') == 2 && is_pod_uid(name.substr(name.rfind('_') + 1));
}

/// POD_NAMESPACE_CONTAINER-ID.log
bool is_log(std::string_view name) {
    constexpr std::string_view kLog = ".log";
    constexpr std::size_t kId = 64;
    if (std::ranges::count(name, '_') != 2 || !name.ends_with(kLog)) return false;
    name.remove_suffix(kLog.size());
    const std::size_t dash = name.rfind('-');
    return dash != std::string_view::npos && name.size() == dash + 1 + kId &&
           made_of(name.substr(dash + 1), is_hex);
}

constexpr std::array<KnownDirectory, 5> kKnown{{
    {"/var/lib/kubelet", is_of_kubelet},
    {"/var/lib/kubelet/pki", is_pair_of_kubelet},
    {"/var/lib/kubelet/pods", is_pod_uid},
    {"/var/log/containers", is_log},
    {"/var/log/pods", is_directory_of_logs},
}};

/// UID/volumes/...
bool is_in_pod(std::string_view path) {
    const std::string_view uid = path.substr(0, path.find('/'));
    if (uid.size() == path.size() || !is_pod_uid(uid)) return false;
    path.remove_prefix(uid.size() + 1);
    const std::string_view part = path.substr(0, path.find('/'));
    return part.size() < path.size() && std::ranges::find(kOfOnePod, part) != kOfOnePod.end();
}

}  // namespace

std::span<const KnownDirectory> known_directories() { return kKnown; }

bool has_mounts_of_pods(std::string_view path) {
    if (path.starts_with(kPods)) return is_in_pod(path.substr(kPods.size()));
    return std::ranges::any_of(
        kWithMounts, [&](std::string_view directory) { return path.starts_with(directory); });
}

}  // namespace kubexm::executor::kubelet_layout
