#pragma once

#include <span>
#include <string_view>

// The names by which one knows what kubelet and containerd made for pods. Pure. Private to this
// module.

namespace kubexm::executor::kubelet_layout {

/// A directory in which kubelet makes entries with known names: all others are not its own.
struct KnownDirectory {
    std::string_view path;
    bool (*has)(std::string_view name);
};

/// Parents before the directories in them.
std::span<const KnownDirectory> known_directories();

/// Whether kubelet, containerd or a volume plugin mounts something there for pods.
bool has_mounts_of_pods(std::string_view path);

}  // namespace kubexm::executor::kubelet_layout
