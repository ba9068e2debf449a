#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/agent/credential_store.hpp"
#include "daemon/model/host.hpp"
#include "daemon/model/node_join.hpp"

namespace kubexm::agent {

/// Kubelet's certificate and key, as a plan of a join gives them to it.
struct SentPair {
    std::string plan_id;
    std::string digest;  // of both in one PEM

    bool operator==(const SentPair&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("plan_id", self.plan_id);
        visit("digest", self.digest);
    }
};

/// The node on this host and the orders that led to it. Written before the join's plan is
/// submitted, so that the ledger never has a node that the memory does not know.
struct JoinedMachine {
    std::string owner;
    model::Reference machine;
    std::string cluster;
    std::string version;              // "v1.34.1"
    std::string join_mode;            // how it was joined
    std::string management;           // API server of the ByoHost
    std::string host_uid;             // of the ByoHost
    std::string resource_version;     // of the ByoHost, the newest with changed orders
    model::NodeJoin wanted;           // without the certificate
    std::vector<model::Pair> labels;  // that we set on the Node
    /// Of all orders since the first join, as far as they may be on the Node: later orders may have
    /// dropped them, and labels and taints of others stay.
    std::vector<model::Taint> taints;
    std::vector<model::Pair> labels_of_others;  // the same, of model::labels_of_others()
    std::string client_ca;  // the bundle for kubelet's clients: that of the first join
    std::vector<std::string> started_cas;  // fingerprints, with which kubelet was started
    SentPair pair;                         // kubelet's certificate and key
    bool became_ready = false;             // the Node
    std::string past_release;              // plan: from before the join, or resume overrode it
    bool overlooks_release = false;        // the next that the executor shows is the past one

    bool operator==(const JoinedMachine&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("owner", self.owner);
        visit("machine", self.machine);
        visit("cluster", self.cluster);
        visit("version", self.version);
        visit("join_mode", self.join_mode);
        visit("management", self.management);
        visit("host_uid", self.host_uid);
        visit("resource_version", self.resource_version);
        visit("wanted", self.wanted);
        visit("labels", self.labels);
        visit("taints", self.taints);
        visit("labels_of_others", self.labels_of_others);
        visit("client_ca", self.client_ca);
        visit("started_cas", self.started_cas);
        visit("pair", self.pair);
        visit("became_ready", self.became_ready);
        visit("past_release", self.past_release);
        visit("overlooks_release", self.overlooks_release);
    }
};

/// `kubexmctl pause`.
struct Pause {
    std::int64_t since = 0;  // seconds since 1970
    std::int64_t until = 0;  // 0: until resume
    std::uint32_t uid = 0;

    bool operator==(const Pause&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("since", self.since);
        visit("until", self.until);
        visit("uid", self.uid);
    }
};

/// `kubexmctl leave`: the machine stays released until the orders change or a person resumes.
struct Leave {
    std::string owner;
    std::uint32_t uid = 0;

    bool operator==(const Leave&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("owner", self.owner);
        visit("uid", self.uid);
    }
};

/// A machine that was released. The executor observes the objects that it has left on this host.
struct Freed {
    std::string owner;
    std::string node;  // a remark about its Node for a person; empty: it is deleted
    std::string pods;  // and of its pods

    bool operator==(const Freed&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("owner", self.owner);
        visit("node", self.node);
        visit("pods", self.pods);
    }
};

/// The knowledge of kubexmd that a restart without the management cluster needs. Never a secret.
struct Memory {
    std::string host_name;  // of the first certificate
    std::optional<JoinedMachine> joined;
    bool creates_host = false;  // a ByoHost of this node: its uid is not known yet
    std::optional<Pause> pause;
    std::optional<Leave> leave;
    std::optional<Freed> freed;  // the last one, until the next join
    std::string adopted;         // owner that a person confirmed for the node on this host
    std::optional<std::uint32_t> adopted_by;  // that person
    std::string stale_release;  // owner for which a release order was held; until it is withdrawn
    std::string lost;           // why an earlier memory could not be read; until resume
    std::optional<std::string> cordoned;  // uid of the Node that a release of ours has cordoned
    /// Of the Events that were written in the last hour, in seconds since 1970.
    std::optional<std::vector<std::int64_t>> event_times;

    bool operator==(const Memory&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("host_name", self.host_name);
        visit("joined", self.joined);
        visit("creates_host", self.creates_host);
        visit("pause", self.pause);
        visit("leave", self.leave);
        visit("freed", self.freed);
        visit("adopted", self.adopted);
        visit("adopted_by", self.adopted_by);
        visit("stale_release", self.stale_release);
        visit("lost", self.lost);
        visit("cordoned", self.cordoned);
        visit("event_times", self.event_times);
    }
};

/// An absent file is an empty memory, an unreadable one is a lost memory.
Memory load_memory(const CredentialStore& store);
/// invalid: the memory is too large.
Result<> store_memory(const CredentialStore& store, const Memory& memory);

}  // namespace kubexm::agent
