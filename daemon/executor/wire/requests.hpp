#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/names.hpp"
#include "daemon/model/on_behalf_of.hpp"
#include "daemon/model/plan.hpp"
#include "daemon/model/preflight.hpp"

namespace kubexm::wire {

inline constexpr std::uint32_t kProtocol = 2;

/// The first request on a connection, answered with the same.
struct Hello {
    static constexpr std::string_view kType = "hello";
    std::uint32_t protocol = kProtocol;
    std::string program;  // "kubexmd 0.1.0"

    static void fields(auto& self, auto&& visit) {
        visit("protocol", self.protocol);
        visit("program", self.program);
    }
};

/// The state of the host: answered with Observation.
struct Observe {
    static constexpr std::string_view kType = "observe";
    static void fields(auto&, auto&&) {}
};

/// Whether this host is ready for a join: answered with PreflightResult.
struct Preflight {
    static constexpr std::string_view kType = "preflight";
    model::JoinNeeds needs;

    static void fields(auto& self, auto&& visit) { visit("needs", self.needs); }
};

/// The effect of a plan, without a change: answered with one StepPreview per step, then End.
struct Preview {
    static constexpr std::string_view kType = "preview";
    model::Plan plan;

    static void fields(auto& self, auto&& visit) { visit("plan", self.plan); }
};

/// Carry out a plan: answered with Accepted once it is in the journal. The content of data and
/// secret files is passed as descriptors, in the order of `contents`.
struct Apply {
    static constexpr std::string_view kType = "apply";
    model::Plan plan;
    std::vector<std::string> contents;  // SHA-256 of each descriptor's content
    bool replace = false;               // stop the running plan first
    std::optional<model::OnBehalfOf> on_behalf_of;

    static void fields(auto& self, auto&& visit) {
        visit("plan", self.plan);
        visit("contents", self.contents);
        visit("replace", self.replace);
        visit("on_behalf_of", self.on_behalf_of);
    }
};

/// Answered with every StepEvent of a plan from its first step on, then PlanSummary.
struct Follow {
    static constexpr std::string_view kType = "follow";
    std::string plan_id;

    static void fields(auto& self, auto&& visit) { visit("plan_id", self.plan_id); }
};

/// Stop a running plan before its next step: answered with Accepted.
struct Cancel {
    static constexpr std::string_view kType = "cancel";
    std::string plan_id;
    std::optional<model::OnBehalfOf> on_behalf_of;

    static void fields(auto& self, auto&& visit) {
        visit("plan_id", self.plan_id);
        visit("on_behalf_of", self.on_behalf_of);
    }
};

/// Changes as they happen, until the connection ends. Answered with PlanSummary where a plan begins
/// and ends, those of other clients, too (Follow shows its steps); UnitsChanged; Drift;
/// BootstrapKubeconfig; TrustedAuthorities; PermitsChanged. Sent before Observe, so that nothing is
/// missed in between.
struct Subscribe {
    static constexpr std::string_view kType = "subscribe";
    static void fields(auto&, auto&&) {}
};

/// Restore everything that was changed for an owner, as a plan: answered with Accepted.
struct Undo {
    static constexpr std::string_view kType = "undo";
    std::string plan_id;  // of the undo, new like that of any plan
    std::string owner;
    std::optional<model::OnBehalfOf> on_behalf_of;

    static void fields(auto& self, auto&& visit) {
        visit("plan_id", self.plan_id);
        visit("owner", self.owner);
        visit("on_behalf_of", self.on_behalf_of);
    }
};

/// Apply the drifted objects of an owner again, as a plan: answered with Accepted. not_found: no
/// drift.
struct Repair {
    static constexpr std::string_view kType = "repair";
    std::string plan_id;
    std::string owner;
    std::optional<model::OnBehalfOf> on_behalf_of;

    static void fields(auto& self, auto&& visit) {
        visit("plan_id", self.plan_id);
        visit("owner", self.owner);
        visit("on_behalf_of", self.on_behalf_of);
    }
};

/// The last plans: answered with one PlanSummary each, newest first, then End.
struct History {
    static constexpr std::string_view kType = "history";
    std::uint32_t limit = 20;

    static void fields(auto& self, auto&& visit) { visit("limit", self.limit); }
};

/// Trust the CAs of a bundle on this host (root only): answered with TrustedAuthorities.
struct TrustCa {
    static constexpr std::string_view kType = "trust-ca";
    std::string bundle;  // PEM

    static void fields(auto& self, auto&& visit) { visit("bundle", self.bundle); }
};

enum class JournalAction { show, restore, discard };

/// Show the journal, or decide about a damaged one (root only): answered with one JournalEntry per
/// changed object, then JournalState.
struct JournalRequest {
    static constexpr std::string_view kType = "journal";
    JournalAction action = JournalAction::show;

    static void fields(auto& self, auto&& visit) { visit("action", self.action); }
};

}  // namespace kubexm::wire

namespace kubexm {

template <>
struct Names<wire::JournalAction> {
    static constexpr std::array<std::pair<wire::JournalAction, std::string_view>, 3> kAll{{
        {wire::JournalAction::show, "show"},
        {wire::JournalAction::restore, "restore"},
        {wire::JournalAction::discard, "discard"},
    }};
};

}  // namespace kubexm
