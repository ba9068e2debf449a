#include "daemon/executor/steps/forwarding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "daemon/base/try.hpp"
#include "daemon/executor/host/kernel.hpp"
#include "daemon/executor/steps/families.hpp"
#include "daemon/executor/steps/new_objects.hpp"

namespace kubexm::executor {

namespace {

constexpr std::size_t kMaxInterfaces = 4096;
constexpr std::size_t kMaxExceptions = 256;  // in a pre-image

struct Governor {
    std::string_view key;
    std::string_view family;
};

constexpr std::array kGovernors{
    Governor{"net.ipv4.ip_forward", "ipv4"},
    Governor{"net.ipv4.conf.all.forwarding", "ipv4"},  // another name of the first
    Governor{"net.ipv6.conf.all.forwarding", "ipv6"},
};

/// Interface "eth0.7" is "eth0/7" in a key: see sysctl(8).
std::string as_part(std::string interface) {
    std::replace(interface.begin(), interface.end(), '.', '/');
    return interface;
}

/// The values that the kernel sets when the governor is set to `value`.
Result<std::vector<Setting>> governed(const Root& root, std::string_view family,
                                      const std::string& value) {
    auto names =
        TRY(list_directory(root, fmt::format("/proc/sys/net/{}/conf", family), kMaxInterfaces));
    std::vector<Setting> settings;
    for (const std::string& name : names) {
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
    auto settings = TRY(governed(root, governor->family, value));
    std::vector<Setting> exceptions;
    for (const Setting& made : settings) {
        auto now = read_sysctl(root, made.key);
        if (!now && now.error().code == Code::not_found) continue;  // the interface is gone
        if (!now) return std::unexpected(now.error());
        if (*now != made.value) exceptions.push_back({made.key, *std::move(now)});
    }
    if (exceptions.size() <= kMaxExceptions) return exceptions;
    return fail(
        Code::exhausted,
        fmt::format("{}: {} interfaces have another value, the ledger can record {}; set {} "
                    "before the plan does",
                    key, exceptions.size(), kMaxExceptions, key));
}

Result<std::optional<std::vector<std::string>>> bridges_for(const Context& context,
                                                            const std::string& key) {
    const bool forwards = std::ranges::find(kGovernors, key, &Governor::key) != kGovernors.end();
    if (!forwards) return std::nullopt;
    return TRY(context.bridges());
}

Result<std::vector<std::string>> bridges_of_others(
    const Context& context, const std::optional<std::vector<std::string>>& before) {
    if (!before) return std::vector<std::string>{};
    auto known = TRY(families::known()).links;
    known.insert(known.end(), context.links.begin(), context.links.end());
    const auto now = TRY(context.bridges());
    return new_objects::divide(now, *before, known).staying;
}

}  // namespace kubexm::executor
