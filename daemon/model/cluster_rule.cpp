#include "daemon/model/cluster_rule.hpp"

#include <algorithm>

#include "daemon/base/grammar.hpp"
#include "daemon/base/hex.hpp"

namespace kubexm::model {

namespace {

constexpr std::string_view kAny = "*";

bool has_port(std::string_view endpoint) {
    const auto read = endpoint_from(endpoint);
    return read && read->port;
}

/// "HOST:PORT" of "https://HOST[:PORT]".
std::string endpoint_of(std::string_view server) {
    constexpr std::string_view kScheme = "https://";
    const std::string endpoint(server.substr(std::min(server.size(), kScheme.size())));
    return has_port(endpoint) ? endpoint : endpoint + ":443";
}

}  // namespace

std::optional<ClusterRule> cluster_rule(std::string_view entry) {
    constexpr std::string_view kPin = "sha256:";
    ClusterRule rule{.endpoint = std::string(entry.substr(0, entry.find(' '))), .pins = {}};
    if (rule.endpoint != kAny && !has_port(rule.endpoint)) return std::nullopt;
    for (std::size_t at = entry.find(' '); at != std::string_view::npos;) {
        const std::size_t end = entry.find(' ', at + 1);
        std::string_view word = entry.substr(
            at + 1, end == std::string_view::npos ? std::string_view::npos : end - at - 1);
        if (!word.starts_with(kPin)) return std::nullopt;
        word.remove_prefix(kPin.size());
        if (!is_sha256(word)) return std::nullopt;
        rule.pins.emplace_back(word);
        at = end;
    }
    return rule;
}

std::optional<ClusterRule> rule_for(const std::vector<std::string>& clusters,
                                    const std::string& server) {
    const std::string endpoint = endpoint_of(server);
    std::optional<ClusterRule> any;
    for (const std::string& entry : clusters) {
        const auto rule = cluster_rule(entry);
        if (rule && rule->endpoint == endpoint) return rule;
        if (rule && rule->endpoint == kAny) any = rule;
    }
    return any;
}

std::vector<std::string> pins_for(const std::vector<std::string>& clusters,
                                  const std::string& server) {
    if (!server.empty()) {
        const auto rule = rule_for(clusters, server);
        return rule ? rule->pins : std::vector<std::string>();
    }
    std::vector<std::string> pins;
    for (const std::string& entry : clusters) {
        const auto rule = cluster_rule(entry);
        if (!rule || rule->pins.empty()) return {};
        pins.insert(pins.end(), rule->pins.begin(), rule->pins.end());
    }
    return pins;
}

}  // namespace kubexm::model
