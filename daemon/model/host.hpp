#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/model/document.hpp"
#include "daemon/model/snapshot.hpp"

namespace kubexm::model {

/// A reference to an object of the management cluster.
struct Reference {
    std::string namespace_;
    std::string name;
    std::string uid;  // may be empty

    bool operator==(const Reference&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("namespace", self.namespace_);
        visit("name", self.name);
        visit("uid", self.uid);
    }
};

/// The ByoHost of this host.
struct HostRecord {
    std::string uid;
    std::string resource_version;
    bool paused = false;
    bool release_asked = false;  // annotation `unregistering`
    std::string cluster;         // label of the cluster that has the host
    std::string machine_name;    // label of the ByoMachine that has the host
    std::string version;         // "v1.34.1"
    std::string join_mode;       // "", "kubeadm", "tlsBootstrap"
    std::optional<Reference> machine;
    std::optional<Reference> bootstrap_secret;
    std::vector<Pair> labels;
    std::vector<Taint> taints;
    std::vector<Condition> conditions;
    std::vector<std::string> condition_texts;  // the JSON of each: fields of others stay
    std::string problem;                       // a malformed field; empty: none
    std::string
        others;  // digest of the parts that others write: changes with each of their changes

    bool operator==(const HostRecord&) const = default;
};

/// The Node of this host.
struct NodeRecord {
    std::string uid;
    std::string machine_id;
    std::string provider_id;
    bool is_cordoned = false;  // it takes no new pods
    std::string kubelet_version;
    std::string runtime_version;
    ConditionStatus ready = ConditionStatus::unknown;
    std::string ready_message;
    std::vector<Pair> labels;
    std::vector<Taint> taints;

    bool operator==(const NodeRecord&) const = default;
};

}  // namespace kubexm::model
