#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/names.hpp"
#include "daemon/model/certificate_view.hpp"
#include "daemon/model/permits.hpp"
#include "daemon/model/plan.hpp"
#include "daemon/model/preflight.hpp"
#include "daemon/model/remaining.hpp"

namespace kubexm::model {

// The status of kubexmd and this host at one instant. The API, the page and the command line read
// nothing else. Times are RFC 3339 in UTC, to the second.

/// The state of the host on its way to a node and back; api/openapi.yaml explains it to users.
enum class Phase {
    unconfigured,  // no bootstrap kubeconfig and no certificate
    enrolling,     // requests a certificate, then registers
    waiting,       // registered, not assigned to a cluster
    joining,       // assigned; the join is not complete
    joined,        // the Node became Ready
    releasing,     // undoes the join
    failed,        // a retry alone cannot succeed; a condition says why
    held,          // the assignment conflicts with the node; a person has to decide
    paused,        // by the management cluster
};

/// A network interface of this host, as the ByoHost's status and the local API show it.
struct Interface {
    std::string name;
    std::string mac;                     // empty for loopback
    std::vector<std::string> addresses;  // "10.0.0.5/24"
    bool up = false;
    bool is_default = false;  // has the IPv4 default route

    bool operator==(const Interface&) const = default;
};

struct HostFacts {
    std::string name;          // of the ByoHost and of the Node
    std::string os_image;      // "Debian GNU/Linux 12 (bookworm)"
    std::string architecture;  // "amd64"
    std::string machine_id;
    std::uint32_t cpus = 0;
    std::int64_t memory_bytes = 0;
    std::vector<Interface> interfaces;  // without those of pods

    bool operator==(const HostFacts&) const = default;
};

/// The cluster and its machine that this host is assigned to.
struct AssignmentView {
    std::string cluster;  // "my-cluster"
    std::string machine;  // "default/my-cluster-workers-x7k2p"
    std::string uid;      // of the machine; its plans have owner "machine-<uid>"
    std::string server;   // API server; empty until the secret was read
    std::string version;  // "v1.34.1"

    bool operator==(const AssignmentView&) const = default;
};

enum class ConditionStatus { yes, no, unknown };

struct Condition {
    std::string type;
    ConditionStatus status = ConditionStatus::unknown;
    std::string severity;  // "Info", "Warning" or "Error" where the status is False
    std::string reason;    // CamelCase; may be empty for True
    std::string message;
    std::string since;  // the last change of the status

    bool operator==(const Condition&) const = default;
};

struct StepView {
    std::string type;  // empty in an undo, like the target
    std::string target;
    std::string text;
    std::vector<std::string> effects;
    StepState state = StepState::pending;
    std::string error;
    std::string progress;  // of a step that takes long

    bool operator==(const StepView&) const = default;
};

struct PlanView {
    std::string id;
    PlanPurpose purpose = PlanPurpose::prepare;
    std::string hash;  // empty for an undo
    PlanState state = PlanState::proposed;
    std::string error;
    std::vector<Remaining> stays;  // objects that an undo could not restore
    std::vector<StepView> steps;

    bool operator==(const PlanView&) const = default;
};

struct UnitView {
    std::string name;
    std::string active;
    std::string enablement;

    bool operator==(const UnitView&) const = default;
};

/// A pause that a person asked for on this host.
struct PauseView {
    std::string since;
    std::string until;      // empty: until resume
    std::uint32_t uid = 0;  // who asked for it

    bool operator==(const PauseView&) const = default;
};

struct Snapshot {
    HostFacts host;
    Phase phase = Phase::unconfigured;
    std::optional<PauseView> pause;
    std::optional<AssignmentView> assignment;
    std::vector<Condition> conditions;  // sorted by type
    std::vector<Finding> preflight;     // of the last join, or of a host that waits for one
    std::optional<PlanView> plan;       // the running one, or the last one
    std::vector<CertificateView> certificates;
    std::vector<UnitView> units;
    std::optional<Permits> permits;  // by root's lists; none: the executor has not said it yet
    std::string version;             // of kubexmd

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
    static constexpr std::array<std::pair<model::ConditionStatus, std::string_view>, 3> kAll{{
        {model::ConditionStatus::yes, "True"},
        {model::ConditionStatus::no, "False"},
        {model::ConditionStatus::unknown, "Unknown"},
    }};
};

}  // namespace kubexm
