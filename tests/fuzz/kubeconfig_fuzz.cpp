#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/kube/kubeconfig.hpp"

namespace {

bool is_control(char c) { return c >= 0 && c < 0x20; }

/// Complete, and unable to end a line of HTTP.
bool is_usable(const kubexm::kube::ClusterCredentials& access) {
    return access.server.starts_with("https://") &&
           std::ranges::none_of(access.server, is_control) &&
           access.certificate.empty() == access.key.empty() &&
           !(access.certificate.empty() && access.token.empty());
}

}  // namespace

// The result is usable credentials, or a reason on one line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto access = kubexm::kube::credentials_from_kubeconfig(text);
    if (access && !is_usable(*access)) __builtin_trap();
    if (access) return 0;
    const std::string& why = access.error().what;
    if (why.empty() || std::ranges::any_of(why, is_control)) __builtin_trap();
    return 0;
}
