#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/fd.hpp"
#include "daemon/model/permits.hpp"
#include "daemon/model/plan_states.hpp"
#include "daemon/model/preflight.hpp"
#include "daemon/model/remaining.hpp"

namespace kubexm::wire {

/// The end of a request that is not, or no longer, served.
struct Refused {
    static constexpr std::string_view kType = "refused";
    std::string code;  // as name_of(Code)
    std::string what;

    static void fields(auto& self, auto&& visit) {
        visit("code", self.code);
        visit("what", self.what);
    }
};

struct Accepted {
    static constexpr std::string_view kType = "accepted";
    std::string plan_id;

    static void fields(auto& self, auto&& visit) { visit("plan_id", self.plan_id); }
};

struct PreflightResult {
    static constexpr std::string_view kType = "preflight-result";
    std::vector<model::Finding> findings;  // without those that root ignores
    std::vector<std::string> ignored;      // the ids of these, also of the checks of kubexmd

    static void fields(auto& self, auto&& visit) {
        visit("findings", self.findings);
        visit("ignored", self.ignored);
    }
};

struct StepPreview {
    static constexpr std::string_view kType = "step-preview";
    std::uint32_t index = 0;
    bool holds = false;  // already in effect
    std::string text;    // one line
    std::vector<std::string> diff;

    static void fields(auto& self, auto&& visit) {
        visit("index", self.index);
        visit("holds", self.holds);
        visit("text", self.text);
        visit("diff", self.diff);
    }
};

struct StepEvent {
    static constexpr std::string_view kType = "step-event";
    std::string plan_id;
    std::uint32_t index = 0;
    model::StepState state = model::StepState::pending;
    std::string text;
    std::string error;
    std::string progress;  // of a long step, sent repeatedly; such events are not stored

    static void fields(auto& self, auto&& visit) {
        visit("plan_id", self.plan_id);
        visit("index", self.index);
        visit("state", self.state);
        visit("text", self.text);
        visit("error", self.error);
        visit("progress", self.progress);
    }
};

struct PlanSummary {
    static constexpr std::string_view kType = "plan-summary";
    std::string plan_id;
    std::string hash;
    std::string owner;
    model::PlanPurpose purpose = model::PlanPurpose::prepare;
    std::string wanted;     // Plan::wanted
    std::uint32_t uid = 0;  // who asked for it
    model::PlanState state = model::PlanState::running;
    std::string error;
    /// The objects that an undo could not restore: those that harm the next join first, as many as
    /// fit a frame.
    std::vector<model::Remaining> stays;
    std::int64_t started_at = 0;
    std::int64_t changed_at = 0;
    std::uint32_t unnamed = 0;  // objects that stay, too

    bool operator==(const PlanSummary&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("plan_id", self.plan_id);
        visit("hash", self.hash);
        visit("owner", self.owner);
        visit("purpose", self.purpose);
        visit("wanted", self.wanted);
        visit("uid", self.uid);
        visit("state", self.state);
        visit("error", self.error);
        visit("stays", self.stays);
        visit("started_at", self.started_at);
        visit("changed_at", self.changed_at);
        visit("unnamed", self.unnamed);
    }
};

struct ObservedUnit {
    std::string name;
    std::string active;
    std::string enablement;

    bool operator==(const ObservedUnit&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("name", self.name);
        visit("active", self.active);
        visit("enablement", self.enablement);
    }
};

/// How a plan of an owner ended, or that it runs.
struct Outcome {
    model::PlanPurpose purpose = model::PlanPurpose::prepare;
    std::string plan_id;
    std::string wanted;
    std::uint32_t uid = 0;
    model::PlanState state = model::PlanState::running;
    std::string error;
    std::vector<model::Remaining> stays;  // as that of PlanSummary
    std::int64_t at = 0;
    std::uint32_t unnamed = 0;

    bool operator==(const Outcome&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("purpose", self.purpose);
        visit("plan_id", self.plan_id);
        visit("wanted", self.wanted);
        visit("uid", self.uid);
        visit("state", self.state);
        visit("error", self.error);
        visit("stays", self.stays);
        visit("at", self.at);
        visit("unnamed", self.unnamed);
    }
};

struct ObservedOwner {
    std::string name;
    std::uint32_t objects = 0;  // in the ledger
    /// Newest first: of every purpose the newest, and the last one that was done.
    std::vector<Outcome> outcomes;
    /// Objects that this version of the executor would render differently: "file /etc/x".
    std::vector<std::string> pending;

    bool operator==(const ObservedOwner&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("name", self.name);
        visit("objects", self.objects);
        visit("outcomes", self.outcomes);
        visit("pending", self.pending);
    }
};

struct AuthorityView {
    std::string name;  // "CN=kubernetes"
    std::string pin;   // SHA-256 of its public key, hexadecimal

    bool operator==(const AuthorityView&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("name", self.name);
        visit("pin", self.pin);
    }
};

/// CAs that root has just confirmed.
struct TrustedAuthorities {
    static constexpr std::string_view kType = "trusted-authorities";
    std::vector<AuthorityView> authorities;

    static void fields(auto& self, auto&& visit) { visit("authorities", self.authorities); }
};

struct Observation {
    static constexpr std::string_view kType = "observation";
    std::vector<ObservedUnit> units;
    std::vector<ObservedOwner> owners;  // the one with the newest plan first
    std::string running_plan;           // empty: none
    /// CAs of the node's API server that came after its join, and that root has not confirmed.
    std::vector<AuthorityView> unconfirmed;
    model::Permits permits;

    static void fields(auto& self, auto&& visit) {
        visit("units", self.units);
        visit("owners", self.owners);
        visit("running_plan", self.running_plan);
        visit("unconfirmed", self.unconfirmed);
        visit("permits", self.permits);
    }
};

/// Root has loaded its lists again.
struct PermitsChanged {
    static constexpr std::string_view kType = "permits-changed";
    model::Permits permits;

    static void fields(auto& self, auto&& visit) { visit("permits", self.permits); }
};

/// The new state of some units; one that went and came back meanwhile may be among them.
struct UnitsChanged {
    static constexpr std::string_view kType = "units-changed";
    std::vector<ObservedUnit> units;

    static void fields(auto& self, auto&& visit) { visit("units", self.units); }
};

/// Owns no objects: the executor cannot notice every change at once, and tries again by itself.
inline constexpr std::string_view kWatchOwner = "kubexm-executor";

/// An object that is not as a plan left it.
struct DriftedObject {
    std::string owner;
    std::string object;  // "file /etc/kubernetes/kubelet.yaml"
    std::string found;

    bool operator==(const DriftedObject&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("owner", self.owner);
        visit("object", self.object);
        visit("found", self.found);
    }
};

/// Everything that differs now, sent when that changes: an empty list says that all is as applied.
struct Drift {
    static constexpr std::string_view kType = "drift";
    std::vector<DriftedObject> objects;

    static void fields(auto& self, auto&& visit) { visit("objects", self.objects); }
};

/// The bootstrap kubeconfig that root put on this host. Sent when a subscription begins and when
/// the file changes.
struct BootstrapKubeconfig {
    static constexpr std::string_view kType = "bootstrap-kubeconfig";
    std::string problem;                // why the file cannot be read
    std::shared_ptr<const Fd> content;  // the descriptor of the frame; null: none was read

    static void fields(auto& self, auto&& visit) { visit("problem", self.problem); }
};

struct JournalEntry {
    static constexpr std::string_view kType = "journal-entry";
    std::string owner;
    std::string text;

    static void fields(auto& self, auto&& visit) {
        visit("owner", self.owner);
        visit("text", self.text);
    }
};

struct JournalState {
    static constexpr std::string_view kType = "journal-state";
    std::string file;  // damaged journal that waits for a decision; empty: not damaged
    std::uint32_t entries = 0;
    std::uint32_t plans = 0;
    std::vector<std::string> damage;  // findings in the damaged journal, one line each

    static void fields(auto& self, auto&& visit) {
        visit("file", self.file);
        visit("entries", self.entries);
        visit("plans", self.plans);
        visit("damage", self.damage);
    }
};

struct End {
    static constexpr std::string_view kType = "end";
    static void fields(auto&, auto&&) {}
};

}  // namespace kubexm::wire
