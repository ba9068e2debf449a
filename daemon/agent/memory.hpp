#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "daemon/agent/credential_store.hpp"
#include "daemon/model/host.hpp"
#include "daemon/model/node_join.hpp"

namespace kubexm::agent {

/// The node on this host and the orders that led to it. Written before the join's plan is
/// submitted, so that the ledger never has a node that the memory does not know.
struct JoinedMachine {
    std::string owner;
    std::int64_t at = 0;  // when its last plan was submitted, in seconds since 1970
    model::Reference machine;
    std::string cluster;
    std::string version;              // "v1.34.1"
    std::string join_mode;            // how it was joined
    std::string management;           // API server of the ByoHost
    std::string host_uid;             // of the ByoHost
    std::string resource_version;     // of the ByoHost, the newest with changed orders
    model::NodeJoin wanted;           // without the certificate
    std::vector<model::Pair> labels;  // that we set on the Node
    std::string client_ca;            // the bundle for kubelet's clients: that of the first join
    bool became_ready = false;        // the Node

    bool operator==(const JoinedMachine&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("owner", self.owner);
        visit("at", self.at);
        visit("machine", self.machine);
        visit("cluster", self.cluster);
        visit("version", self.version);
        visit("join_mode", self.join_mode);
        visit("management", self.management);
        visit("host_uid", self.host_uid);
        visit("resource_version", self.resource_version);
        visit("wanted", self.wanted);
        visit("labels", self.labels);
        visit("client_ca", self.client_ca);
        visit("became_ready", self.became_ready);
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

/// `kubexmctl leave`: the machine stays released until the orders change or somebody resumes.
struct Leave {
    std::string owner;
    std::uint32_t uid = 0;

    bool operator==(const Leave&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("owner", self.owner);
        visit("uid", self.uid);
    }
};

/// What kubexmd knows after a restart without the management cluster. Never a secret.
struct Memory {
    std::string host_name;  // of the first registration
    std::optional<JoinedMachine> joined;
    std::optional<Pause> pause;
    std::optional<Leave> leave;
    std::string adopted;          // owner that a person confirmed for the node on this host
    std::int64_t resumed_at = 0;  // a release by root before that is no reason to hold

    bool operator==(const Memory&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("host_name", self.host_name);
        visit("joined", self.joined);
        visit("pause", self.pause);
        visit("leave", self.leave);
        visit("adopted", self.adopted);
        visit("resumed_at", self.resumed_at);
    }
};

/// An absent file is an empty memory.
Result<Memory> load_memory(const CredentialStore& store);
Result<> store_memory(const CredentialStore& store, const Memory& memory);

}  // namespace kubexm::agent
