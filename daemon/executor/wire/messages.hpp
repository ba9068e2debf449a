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

// What kubexmd (or root) and the executor says to each other. One message is one frame: a JSON
// object with a "type", and the descriptors that travel with it. Each side opens with Hello.

inline constexpr std::uint32_t kProtocol = 1;
inline constexpr std::size_t kMaxFrame = std::size_t{192} * 1024;  // below the kernel's default
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

/// What is on the host: answered by Observation.
struct Observe {
    static constexpr std::string_view kType = "observe";
    static void fields(auto&, auto&&) {}
};

/// What a plan would do, changing nothing: one StepPreview a step, then End.
struct Preview {
    static constexpr std::string_view kType = "preview";
    model::Plan plan;

    static void fields(auto& self, auto&& visit) { visit("plan", self.plan); }
};

/// Carry out a plan: Accepted once it is in the journal. The content of its data and secret files
/// travels as descriptors, in the order of `contents`.
struct Apply {
    static constexpr std::string_view kType = "apply";
    model::Plan plan;
    std::vector<std::string> contents;  // SHA-256 of each descriptor's bytes
    bool replace = false;               // take the place of a plan that is running

    static void fields(auto& self, auto&& visit) {
        visit("plan", self.plan);
        visit("contents", self.contents);
        visit("replace", self.replace);
    }
};

/// Every StepEvent of a plan from its beginning on, then Finished.
struct Follow {
    static constexpr std::string_view kType = "follow";
    std::string plan_id;

    static void fields(auto& self, auto&& visit) { visit("plan_id", self.plan_id); }
};

/// Stop a running plan at its next step boundary.
struct Cancel {
    static constexpr std::string_view kType = "cancel";
    std::string plan_id;

    static void fields(auto& self, auto&& visit) { visit("plan_id", self.plan_id); }
};

/// Take back everything that was put on the host for an owner; Accepted names the plan to follow.
struct Undo {
    static constexpr std::string_view kType = "undo";
    std::string id;  // of the undo plan, as new as any plan's
    std::string owner;

    static void fields(auto& self, auto&& visit) {
        visit("id", self.id);
        visit("owner", self.owner);
    }
};

/// The last plans, newest first: one PlanSummary each, then End.
struct History {
    static constexpr std::string_view kType = "history";
    std::uint32_t limit = 20;

    static void fields(auto& self, auto&& visit) { visit("limit", self.limit); }
};

enum class JournalAction { show, restore, discard };

/// Look at the journal, or decide about a damaged one (root only): one JournalEntry for everything
/// of ours on the host, then JournalState.
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
    bool holds = false;  // nothing to do
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
    std::string progress;  // how far it is, told again and again while it takes long

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
    std::vector<std::string> owners;  // for whom something is on the host
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
    std::string file;  // the damaged one that waits for a decision; empty: the journal is sound
    std::uint32_t entries = 0;
    std::uint32_t plans = 0;
    std::vector<std::string> damage;  // what of the damaged one could not be read

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

/// invalid: not such a message; the text names the member. Never quotes values.
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
