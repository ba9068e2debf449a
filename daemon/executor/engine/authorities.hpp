#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/model/cluster_rule.hpp"
#include "daemon/model/step.hpp"
#include "daemon/pki/authority.hpp"

// Which API server and which CAs a node may trust. kubelet lets everybody in who has a certificate
// of its client CA: a CA of an attacker there is root on this host, and nothing else shows it.

namespace kubexm::executor {

/// The cluster of the node on this host, as the ledger has it.
struct PresentCluster {
    std::string server;
    std::vector<pki::Authority> server_cas;
    std::vector<pki::Authority> client_cas;  // of kubelet's clients
    std::vector<model::DataFile> bundles;    // as applied
};

/// Whether a plan may name an API server. Pure. denied: the node on this host has another.
Result<> may_use_server(const std::string& server, const std::optional<PresentCluster>& present);

/// Whether a step may change the files with CAs, or a directory above them: only as a CA bundle.
/// Pure. denied: says how.
Result<> may_touch_authorities(const model::Step& step);

/// Whether the bundles of a plan with a kubeconfig are both there: files that lie there already
/// were perhaps judged by other rules. Pure. denied: names the missing one.
Result<> brings_authorities(const std::vector<model::DataFile>& bundles);

/// Whether a step makes a kubelet that runs, or its unit. Pure.
bool makes_kubelet(const model::Step& step);

enum class CaUse { server, client };

/// The CAs that root trusts, as pins.
struct TrustedPins {
    std::vector<std::string> pinned;     // in allow.clusters; none: any CA for a new node
    std::vector<std::string> confirmed;  // kubexmctl certs trust-ca

    bool has(const pki::Authority& one) const;
};

/// Whether a plan may write these CAs. A new one must be trusted by root, or signed by one that is
/// there; without pins any is good for a new node, and for the server of a node. Pure. denied:
/// names the CA and its pin.
Result<> may_use_authorities(const std::vector<pki::Authority>& wanted, CaUse use,
                             const TrustedPins& trusted,
                             const std::optional<PresentCluster>& present);

/// The CAs of the node's API server that came after the join, and that root has not confirmed; none
/// where the CAs of the join are not known. Pure.
std::vector<pki::Authority> unconfirmed(const PresentCluster& present, const TrustedPins& trusted);

}  // namespace kubexm::executor
