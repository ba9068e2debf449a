#include "daemon/executor/steps/forwarding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "daemon/executor/host/kernel.hpp"

namespace kubexm::executor {

namespace {

constexpr std::size_t kMaxInterfaces = 4096;
constexpr std::size_t kMaxExceptions = 256;  // that a pre-image holds

struct Governor {
    std::string_view key;
    std::string_view family;
};

constexpr std::array kGovernors{
    Governor{"net.ipv4.ip_forward", "ipv4"},
    Governor{"net.ipv4.conf.all.forwarding", "ipv4"},  // another name of the first
    Governor{"net.ipv6.conf.all.forwarding", "ipv6"},
};

/// "eth0.7" is a part of a key as "eth0/7", as sysctl(8) has it.
std::string as_part(std::string interface) {
    std::replace(interface.begin(), interface.end(), '.', '/');
    return interface;
}

/// What the kernel makes of them when the governor is set to `value`.
Result<std::vector<Setting>> governed(const Root& root, std::string_view family,
                                      const std::string& value) {
    auto names = list_directory(root, fmt::format("/proc/sys/net/{}/conf", family), kMaxInterfaces);
    if (!names) return std::unexpected(names.error());
    std::vector<Setting> settings;
    for (const std::string& name : *names) {
        if (name == "all") continue;
        settings.push_back(
            {fmt::format("net.{}.conf.{}.forwarding", family, as_part(name)), value});
    }
    if (family == "ipv4") {
        settings.push_back({"net.ipv4.conf.all.accept_redirects", value == "0" ? "1" : "0"});
    }
    return settings;
}

}  // namespace

Result<std::vector<Setting>> exceptions_to(const Root& root, const std::string& key,
                                           const std::string& value) {
    const auto* governor = std::ranges::find(kGovernors, key, &Governor::key);
    if (governor == kGovernors.end()) return std::vector<Setting>{};
    auto settings = governed(root, governor->family, value);
    if (!settings) return std::unexpected(settings.error());
    std::vector<Setting> exceptions;
    for (const Setting& made : *settings) {
        auto now = read_sysctl(root, made.key);
        if (!now && now.error().code == Code::not_found) continue;  // the interface is gone
        if (!now) return std::unexpected(now.error());
        if (*now != made.value) exceptions.push_back({made.key, *std::move(now)});
    }
    if (exceptions.size() <= kMaxExceptions) return exceptions;
    return fail(Code::exhausted,
                fmt::format("{}: {} interfaces differ from it, at most {} can be given back later: "
                            "set it before the plan does",
                            key, exceptions.size(), kMaxExceptions));
}

}  // namespace kubexm::executor
