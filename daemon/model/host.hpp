#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/model/document.hpp"
#include "daemon/model/snapshot.hpp"

namespace kubexm::model {

/// A network interface of this host, as the ByoHost's status shows it.
struct Interface {
    std::string name;
    std::string mac;                     // empty for loopback
    std::vector<std::string> addresses;  // "10.0.0.5/24"
    bool up = false;
    bool is_default = false;  // the IPv4 default route goes here

    bool operator==(const Interface&) const = default;
};

/// A reference to an object of the management cluster.
struct Reference {
    std::string namespace_;  // its namespace
    std::string name;
    std::string uid;  // empty where only a name is given

    bool operator==(const Reference&) const = default;
};

/// What the management cluster says about this host: its ByoHost, typed.
struct HostRecord {
    std::string uid;
    std::string resource_version;
    bool paused = false;
    bool release_asked = false;  // the annotation `unregistering`
    std::string cluster;         // the label of the cluster that wants the host
    std::string version;         // "v1.34.1"
    std::string join_mode;       // "", "kubeadm", "tlsBootstrap"
    std::optional<Reference> machine;
    std::optional<Reference> bootstrap_secret;
    std::vector<Pair> labels;
    std::vector<Taint> taints;
    std::vector<Condition> conditions;
    std::string problem;  // what of this cannot be read; empty: everything can

    bool operator==(const HostRecord&) const = default;
};

/// The Node of this host, as far as it is looked at.
struct NodeRecord {
    std::string uid;
    std::string machine_id;
    std::string provider_id;
    std::string kubelet_version;
    std::string runtime_version;
    ConditionStatus ready = ConditionStatus::unknown;
    std::string ready_message;

    bool operator==(const NodeRecord&) const = default;
};

}  // namespace kubexm::model
