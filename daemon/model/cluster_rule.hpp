#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kubexm::model {

/// An entry of allow.clusters: "HOST:PORT", or "HOST:PORT sha256:HEX ..." with the pins of its CAs.
struct ClusterRule {
    std::string endpoint;           // "*": any
    std::vector<std::string> pins;  // SHA-256 of public keys, hexadecimal; none: any CA

    bool operator==(const ClusterRule&) const = default;
};

/// Nothing: not an entry.
std::optional<ClusterRule> cluster_rule(std::string_view entry);

/// The pins of the CAs of an API server; empty: any CA. Without a server, those of all clusters.
std::vector<std::string> pins_for(const std::vector<std::string>& clusters,
                                  const std::string& server);

/// The rule for "https://HOST[:PORT]"; nothing: the server is not permitted.
std::optional<ClusterRule> rule_for(const std::vector<std::string>& clusters,
                                    const std::string& server);

}  // namespace kubexm::model
