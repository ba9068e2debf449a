#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/names.hpp"
#include "daemon/model/plan.hpp"

namespace kubexm::model {

// Everything kubexmd says about itself and this host, at one instant. The API, the page, the
// command line and the log read this and nothing else. Times are RFC 3339 in UTC, to the second.

/// How far the host is on its way to a node and back. api/openapi.yaml tells users what each means.
enum class Phase {
    unconfigured,  // no bootstrap kubeconfig, no certificate: nobody to ask
    enrolling,     // asks the management cluster for a certificate, then registers
    waiting,       // registered; no cluster wants this host
    joining,       // assigned; becomes a node
    joined,        // the Node was seen Ready
    releasing,     // gives everything back
    failed,        // cannot go on without a change or a person; a condition says why
    held,          // what is asked does not fit what is here: left as it is, a person is asked
    paused,        // somebody asked to leave the host alone
};

struct HostFacts {
    std::string name;          // of the ByoHost and of the Node
    std::string os_image;      // "Debian GNU/Linux 12 (bookworm)"
    std::string architecture;  // "amd64"
    std::string machine_id;
    std::uint32_t cpus = 0;
    std::int64_t memory_bytes = 0;

    bool operator==(const HostFacts&) const = default;
};

/// Which cluster wants this host, for which of its machines.
struct AssignmentView {
    std::string cluster;  // "my-cluster"
    std::string machine;  // "default/my-cluster-workers-x7k2p"
    std::string uid;      // of the machine; also the owner of its plans
    std::string server;   // the API server that the node joins; empty until the secret was read
    std::string version;  // "v1.34.1"

    bool operator==(const AssignmentView&) const = default;
};

enum class ConditionStatus { yes, no, unknown };

struct Condition {
    std::string type;
    ConditionStatus status = ConditionStatus::unknown;
    std::string severity;  // "Info", "Warning", "Error" where the status is False
    std::string reason;    // CamelCase; may be empty where the status is True
    std::string message;
    std::string since;  // when the status changed last

    bool operator==(const Condition&) const = default;
};

struct StepView {
    std::string type;  // empty, as the target, where only the executor knows it: in an undo
    std::string target;
    std::string text;
    std::vector<std::string> effects;
    std::string state;  // "pending", "prepared", "done", "skipped", "failed"; "undone" in an undo
    std::string error;
    std::string progress;  // of one that takes long

    bool operator==(const StepView&) const = default;
};

struct PlanView {
    std::string id;
    std::string hash;   // empty for an undo, whose steps are the ledger's
    std::string state;  // "proposed", "refused", "running", "done", "failed", "cancelled", "undone"
    std::string error;
    std::vector<StepView> steps;

    bool operator==(const PlanView&) const = default;
};

struct CertificateView {
    std::string name;     // "management" or "node"
    std::string subject;  // "CN=system:node:h1, O=system:nodes"
    std::string serial;
    std::string not_before;
    std::string not_after;

    bool operator==(const CertificateView&) const = default;
};

struct UnitView {
    std::string name;
    std::string active;
    std::string enablement;

    bool operator==(const UnitView&) const = default;
};

struct Snapshot {
    HostFacts host;
    Phase phase = Phase::unconfigured;
    std::optional<AssignmentView> assignment;
    std::vector<Condition> conditions;  // sorted by type
    std::optional<PlanView> plan;       // the one that runs, or the last one
    std::vector<CertificateView> certificates;
    std::vector<UnitView> units;
    std::string version;  // of kubexmd

    bool operator==(const Snapshot&) const = default;
};

}  // namespace kubexm::model

namespace kubexm {

template <>
struct Names<model::Phase> {
    static constexpr std::array<std::pair<model::Phase, std::string_view>, 9> kAll{{
        {model::Phase::unconfigured, "unconfigured"},
        {model::Phase::enrolling, "enrolling"},
        {model::Phase::waiting, "waiting"},
        {model::Phase::joining, "joining"},
        {model::Phase::joined, "joined"},
        {model::Phase::releasing, "releasing"},
        {model::Phase::failed, "failed"},
        {model::Phase::held, "held"},
        {model::Phase::paused, "paused"},
    }};
};

template <>
struct Names<model::ConditionStatus> {
    // As Kubernetes spells them.
    static constexpr std::array<std::pair<model::ConditionStatus, std::string_view>, 3> kAll{{
        {model::ConditionStatus::yes, "True"},
        {model::ConditionStatus::no, "False"},
        {model::ConditionStatus::unknown, "Unknown"},
    }};
};

}  // namespace kubexm
