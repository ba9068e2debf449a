#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/base/names.hpp"
#include "daemon/model/plan.hpp"

namespace kubexm::wire {

// The protocol between kubexmd (or root) and the executor. One message is one frame: a JSON object
// with a "type", and descriptors. Each side starts with Hello. Any request can be answered with
// Refused.

inline constexpr std::uint32_t kProtocol = 1;
inline constexpr std::size_t kMaxFrame =
    std::size_t{192} * 1024;  // below the kernel's default socket buffer
inline constexpr std::size_t kMaxDescriptors = 64;

struct Hello {
    static constexpr std::string_view kType = "hello";
    std::uint32_t protocol = kProtocol;
    std::string program;  // "kubexmd 0.1.0"

    static void fields(auto& self, auto&& visit) {
        visit("protocol", self.protocol);
        visit("program", self.program);
    }
};

// --- requests

/// The state of the host: answered with Observation.
struct Observe {
    static constexpr std::string_view kType = "observe";
    static void fields(auto&, auto&&) {}
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

    static void fields(auto& self, auto&& visit) {
        visit("plan", self.plan);
        visit("contents", self.contents);
        visit("replace", self.replace);
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

    static void fields(auto& self, auto&& visit) { visit("plan_id", self.plan_id); }
};

/// Restore everything that was changed for an owner, as a plan: answered with Accepted.
struct Undo {
    static constexpr std::string_view kType = "undo";
    std::string id;  // of the undo plan, new like that of any plan
    std::string owner;

    static void fields(auto& self, auto&& visit) {
        visit("id", self.id);
        visit("owner", self.owner);
    }
};

/// The last plans: answered with one PlanSummary each, newest first, then End.
struct History {
    static constexpr std::string_view kType = "history";
    std::uint32_t limit = 20;

    static void fields(auto& self, auto&& visit) { visit("limit", self.limit); }
};

enum class JournalAction { show, restore, discard };

/// Show the journal, or decide about a damaged one (root only): answered with one JournalEntry per
/// changed object, then JournalState.
struct Journal {
    static constexpr std::string_view kType = "journal";
    JournalAction action = JournalAction::show;

    static void fields(auto& self, auto&& visit) { visit("action", self.action); }
};

using Request =
    std::variant<Hello, Observe, Preview, Apply, Follow, Cancel, Undo, History, Journal>;

// --- replies

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
    std::string state;  // "pending", "prepared", "done", "skipped", "failed"
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
    std::string state;  // "running", "done", "failed", "cancelled", "undone"
    std::string error;
    std::int64_t started_at = 0;
    std::int64_t changed_at = 0;

    bool operator==(const PlanSummary&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("plan_id", self.plan_id);
        visit("hash", self.hash);
        visit("owner", self.owner);
        visit("state", self.state);
        visit("error", self.error);
        visit("started_at", self.started_at);
        visit("changed_at", self.changed_at);
    }
};

struct ObservedUnit {
    std::string name;
    std::string active;
    std::string enablement;

    static void fields(auto& self, auto&& visit) {
        visit("name", self.name);
        visit("active", self.active);
        visit("enablement", self.enablement);
    }
};

struct Observation {
    static constexpr std::string_view kType = "observation";
    std::vector<ObservedUnit> units;
    std::vector<std::string> owners;  // with entries in the ledger
    std::string running_plan;         // empty: none

    static void fields(auto& self, auto&& visit) {
        visit("units", self.units);
        visit("owners", self.owners);
        visit("running_plan", self.running_plan);
    }
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

using Reply = std::variant<Hello, Refused, Accepted, StepPreview, StepEvent, PlanSummary,
                           Observation, JournalEntry, JournalState, End>;

std::string pack(const Request& request);
std::string pack(const Reply& reply);

/// invalid: the text names the wrong member and never quotes values.
Result<Request> unpack_request(std::string_view frame);
Result<Reply> unpack_reply(std::string_view frame);

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
