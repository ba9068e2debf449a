#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/agent/decide.hpp"
#include "daemon/agent/executor_state.hpp"
#include "daemon/agent/memory.hpp"
#include "daemon/base/backoff.hpp"
#include "daemon/base/error.hpp"
#include "daemon/model/host.hpp"
#include "daemon/model/preflight.hpp"
#include "daemon/model/snapshot.hpp"

namespace kubexm::agent {

struct ManagementState {
    bool configured = false;       // a certificate or a bootstrap kubeconfig is there
    bool reachable = false;        // the last request was answered
    std::string server;            // empty: no certificate yet
    std::optional<Error> problem;  // why it is not reachable
    std::optional<model::CertificateView> certificate;
    std::optional<Error> bootstrap_problem;  // a bootstrap kubeconfig for another cluster fails
};

struct ExecutorLink {
    std::optional<Result<>> connected;      // none: not known yet
    std::optional<ExecutorState> observed;  // none: a fresh observation is under way
    std::optional<ExecutorState> known;     // the newest observation, perhaps outdated
    bool is_interrupted = false;            // an activity that may have changed the host since
    std::optional<Error> refused;           // the last request that an activity has to make again
    std::vector<model::UnitView> units;
    std::vector<wire::DriftedObject> drift;  // all objects that are not as they were applied
    bool drift_known = false;                // the executor has sent it
    /// As applied, but a newer version would render them differently.
    std::vector<std::string> pending_renderings;
    std::vector<wire::AuthorityView> unconfirmed;  // as in wire::Observation
    std::optional<model::Permits> permits;         // none: not known yet
};

/// Repairs of an object in a row: after the first ones, an object that is changed back each time
/// waits longer each time.
struct RepairState {
    std::uint32_t count = 0;
    std::chrono::sys_seconds last;
    std::chrono::sys_seconds not_before;
    bool is_done = false;  // the last one
};

/// The bootstrap secret without its credentials: the settings of the cluster.
struct ClusterSettings {
    model::Reference secret;  // where they come from
    std::string server;
    std::string server_name;
    std::string ca;
    model::KubeletSettings kubelet;
    std::vector<std::string> notes;  // settings that are ignored

    bool operator==(const ClusterSettings&) const = default;
};

/// A certificate request that waits for its approval.
struct PendingRequest {
    std::string server;
    std::string name;

    bool operator==(const PendingRequest&) const = default;
};

/// The Node of the present owner, as its own credentials see it.
struct NodeState {
    std::string owner;
    std::string server;
    std::optional<model::CertificateView> certificate;
    std::optional<Error> problem;             // the API server does not answer
    std::optional<model::NodeRecord> record;  // none: there is no Node
    std::optional<Error> invalid;             // why the record is not this host's Ready Node
    std::optional<Error> labels_refused;      // the API server does not permit the wanted labels
    std::string labels_contested;             // keys that another controller changes back each time
    bool untrusted = false;                   // the server's certificate: its CA may be a new one
    bool observed = false;                    // the API server has answered
    bool became_ready = false;
};

/// The last activity for the present decision failed; it is retried.
struct ActivityFailure {
    Error error;
};

/// The release of this host is done; the ByoHost is about to be freed.
struct Released {
    std::string message;  // for the condition
};

/// A certificate whose renewal failed, and is tried again, or waits for its approval.
struct RenewalProblem {
    Error error;
    double life_left = 0;  // of the certificate in use, 0 to 1, at the last try
    std::optional<std::chrono::sys_seconds> not_after;  // none: not known
    std::optional<std::chrono::sys_seconds> next_try;   // none: it depends on others
};

/// A person asked for the renewal of a certificate.
struct AskedRenewal {
    std::uint32_t count = 0;  // how often
    std::uint32_t uid = 0;    // of the last person
};

/// A certificate request that was denied, or whose certificate is not as it was requested.
struct RejectedRequest {
    Error error;
    std::chrono::sys_seconds since;
    std::chrono::sys_seconds not_before;  // of the next one
    /// With its jitter ten minutes to six hours.
    Backoff backoff{std::chrono::minutes(10), std::chrono::hours(3)};
};

/// All that kubexmd knows. Decision, Snapshot and conditions are functions of it.
struct AgentState {
    model::HostFacts facts;
    std::string version;       // of kubexmd
    std::string present_name;  // of the host, where it differs from the remembered one
    Memory memory;
    bool is_memory_unwritten = false;  // the disk has an older one
    ManagementState management;
    std::optional<model::HostRecord> host;  // the ByoHost
    std::chrono::sys_seconds host_written;  // when kubexmd last changed it
    std::optional<ClusterSettings> settings;
    std::optional<Error> settings_problem;  // the secret cannot be read
    ExecutorLink executor;
    std::optional<Result<>> local_api;  // whether all its listeners work; none: not started
    std::map<std::string, PendingRequest> requests;      // by identity: "management", "node"
    std::map<std::string, RejectedRequest> rejections;   // by key file
    std::map<std::string, RenewalProblem> renewals;      // by identity, and "node of kubelet"
    std::map<std::string, AskedRenewal> asked_renewals;  // by certificate
    std::optional<Decision> decision;
    std::optional<ActivityFailure> failure;
    std::optional<Released> released;
    std::vector<model::Finding> preflight;  // of the last join, or while it waits for one
    std::vector<std::string> ending_pods;   // that a release waits for
    std::optional<model::PlanView> plan;
    std::optional<NodeState> node;
    std::map<std::string, RepairState> repairs;    // by object
    std::optional<std::uint32_t> repair_asked_by;  // the person who asked for the next repair
    std::optional<Error> credentials_problem;      // the node's certificate is missing or refused
};

}  // namespace kubexm::agent
