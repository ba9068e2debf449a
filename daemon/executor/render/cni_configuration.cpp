#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "daemon/base/grammar.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/render/documents.hpp"
#include "daemon/executor/render/validation.hpp"

namespace kubexm::executor {

namespace {

using Json = nlohmann::ordered_json;
using model::CniConfiguration;

constexpr std::uint32_t kLeastMtu = 1280;  // of a link with IPv6
constexpr std::uint32_t kMostMtu = 65535;

Result<> validate(const CniConfiguration& network) {
    Validation validation;
    validation.text("name", network.name, kDnsLabel);
    validation.text("bridge", network.bridge, kLinkName);
    validation.optional_text("ipv4_subnet", network.ipv4_subnet, kIpv4PodSubnet);
    validation.optional_text("ipv6_subnet", network.ipv6_subnet, kIpv6PodSubnet);
    validation.that(!network.ipv4_subnet.empty() || !network.ipv6_subnet.empty(), "ipv4_subnet",
                    "a network here or in ipv6_subnet");
    const bool is_mtu = network.mtu >= kLeastMtu && network.mtu <= kMostMtu;
    validation.that(network.mtu == 0 || is_mtu, "mtu",
                    fmt::format("0 or {} to {}, not {}", kLeastMtu, kMostMtu, network.mtu));
    return validation.outcome();
}

/// The plugin keeps its leases in /var/lib/cni, as by default.
Json addresses(const CniConfiguration& network) {
    Json ranges = Json::array();
    Json routes = Json::array();
    const auto add = [&](const std::string& subnet, const char* everywhere) {
        if (subnet.empty()) return;
        ranges.push_back(Json::array({Json{{"subnet", subnet}}}));
        routes.push_back(Json{{"dst", everywhere}});
    };
    add(network.ipv4_subnet, "0.0.0.0/0");
    add(network.ipv6_subnet, "::/0");
    return Json{{"type", "host-local"}, {"ranges", ranges}, {"routes", routes}};
}

/// With hairpin mode a pod reaches itself through a Service.
Json bridge(const CniConfiguration& network) {
    Json plugin{{"type", "bridge"},
                {"bridge", network.bridge},
                {"isGateway", true},
                {"ipMasq", network.masquerade},
                {"hairpinMode", true}};
    if (network.mtu != 0) plugin["mtu"] = network.mtu;
    plugin["ipam"] = addresses(network);
    return plugin;
}

Json portmap() { return Json{{"type", "portmap"}, {"capabilities", Json{{"portMappings", true}}}}; }

}  // namespace

/// Without loopback, which containerd adds itself. Version 0.4.0 is the newest that the plugins of
/// every supported distribution know.
Result<std::string> content_of(const CniConfiguration& network) {
    TRY(validate(network));
    const Json document{{"cniVersion", "0.4.0"},
                        {"name", network.name},
                        {"plugins", Json::array({bridge(network), portmap()})}};
    constexpr int kIndent = 2;
    return document.dump(kIndent) + "\n";
}

}  // namespace kubexm::executor
