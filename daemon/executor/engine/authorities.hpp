#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/model/cluster_rule.hpp"
#include "daemon/model/step.hpp"
#include "daemon/pki/authority.hpp"

// Which API server and which CAs a node may trust. kubelet accepts every client with a certificate
// of its client CA: an attacker who adds a CA there becomes root on this host, unnoticed.

namespace kubexm::executor {

/// The cluster of the node on this host.
struct PresentCluster {
    std::string server;
    std::vector<pki::Authority> server_cas;
    std::vector<pki::Authority> client_cas;  // of kubelet's clients
    std::vector<model::DataFile> bundles;    // as applied
    std::optional<std::string> server_name;  // in the server's certificate
    bool is_in_journal = true;               // false: root has discarded it; only files are left
};

/// Whether a plan may name an API server, and the name in its certificate: any server of the same
/// CA could have another one. Pure. denied: the node on this host has another.
Result<> may_use_server(const model::Kubeconfig& wanted,
                        const std::optional<PresentCluster>& present);

/// Whether a step may change the files with CAs, or a directory above them: only as a CA bundle.
/// Pure. denied: says how.
Result<> may_touch_authorities(const model::Step& step);

/// Whether the bundles of a plan with a kubeconfig are both there: files that lie there already
/// were perhaps judged by other rules. Pure. denied: names the missing one.
Result<> brings_authorities(const std::vector<model::DataFile>& bundles);

/// How root permits a CA; for messages.
inline constexpr const char* kConfirmCa = "with the CA in a file: kubexmctl certs trust-ca FILE";

enum class CaUse { server, client };

/// The CAs that root trusts, as pins.
struct TrustedPins {
    std::vector<std::string> pinned;     // in allow.clusters; none: any CA for a new node
    std::vector<std::string> confirmed;  // kubexmctl certs trust-ca

    bool has(const pki::Authority& one) const;
};

/// Whether a plan may write these CAs. A new one must be trusted by root, or signed by one that is
/// there; without pins any is good for a new node, and beside those that are there for the server
/// of a node. Pure. denied: names the CA and its pin.
Result<> may_use_authorities(const std::vector<pki::Authority>& wanted, CaUse use,
                             const TrustedPins& trusted,
                             const std::optional<PresentCluster>& present);

/// The CAs of the node's API server that came after the join, and that root has not confirmed; none
/// where the CAs of the join are not known. Pure.
std::vector<pki::Authority> unconfirmed(const PresentCluster& present, const TrustedPins& trusted);

}  // namespace kubexm::executor
