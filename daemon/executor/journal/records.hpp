#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/model/plan_states.hpp"

namespace kubexm::executor {

using model::PlanPurpose;
using model::PlanState;
using model::StepState;

struct StepRecord {
    std::uint32_t index = 0;
    StepState state = StepState::pending;
    std::string error;  // of the last try
};

struct PlanRecord {
    std::string id;
    std::string hash;
    std::string owner;
    PlanPurpose purpose = PlanPurpose::prepare;
    std::string wanted;     // hash of the wanted state that the plan leads to
    std::uint32_t uid = 0;  // who asked for it
    std::string document;   // the plan's JSON form
    PlanState state = PlanState::running;
    std::uint32_t failures = 0;  // in a row, with the same error
    std::string last_error;
    std::string stays;  // JSON form of the objects that an undo could not restore, and why
    std::int64_t started_at = 0;  // seconds since 1970
    std::int64_t changed_at = 0;
    std::vector<StepRecord> steps;
};

/// The newest plan of an owner for a purpose. Stays when the plan itself is dropped.
struct OutcomeRecord {
    std::int64_t sequence = 0;  // the newest has the highest
    std::string owner;
    PlanPurpose purpose = PlanPurpose::prepare;
    std::string plan_id;
    std::string wanted;
    std::uint32_t uid = 0;
    PlanState state = PlanState::running;
    std::string error;
    std::string stays;
    std::int64_t at = 0;  // of the last change
};

/// An owner of an object, by the name in the plan.
struct LedgerOwner {
    std::int64_t sequence = 0;  // the newest has the highest: its step wins
    std::int64_t entry = 0;     // LedgerEntry::sequence
    std::string owner;
    std::string step;  // JSON form of the step that the owner wants
    std::string plan_id;
};

/// One object on the host that plans own. `type` and `target` are those of the step. The first
/// pre-image stays when the object is changed again; it is restored when the last owner goes.
struct LedgerEntry {
    std::int64_t sequence = 0;  // undo goes from the highest to the lowest
    std::string type;
    std::string target;
    std::string step;                 // JSON form of the step that was last prepared
    std::string applied;              // JSON form of the step that was last done; empty: none
    std::string written;              // digests of the content that these two steps write
    std::string pre_image;            // JSON form of the state before the first change
    std::vector<LedgerOwner> owners;  // oldest first; in a table of its own
};

/// A step before it changes the host, with its object's pre-image.
struct PreparedStep {
    std::uint32_t index = 0;
    std::string type;
    std::string target;
    std::string step;
    std::string written;
    std::string pre_image;
    bool holds = false;  // nothing has to change: the step is `skipped`
};

struct EndedStep {
    std::uint32_t index = 0;
    StepState state = StepState::done;
    std::string error;
};

/// A prepared step that was never begun, and the entry of its object before it was prepared.
struct ForgottenStep {
    std::uint32_t index = 0;
    std::optional<LedgerEntry> before;
};

/// Changes of the steps of one plan, made in this order.
struct StepChanges {
    std::vector<EndedStep> ended;
    std::vector<ForgottenStep> forgotten;
    std::vector<PreparedStep> prepared;
};

/// An entry that an owner has left.
struct UndoneEntry {
    std::int64_t sequence = 0;
    bool reapplied = false;  // the step that was last prepared is done
};

struct AuditRecord {
    std::int64_t sequence = 0;
    std::int64_t at = 0;
    std::uint32_t uid = 0;
    std::int64_t pid = 0;
    std::string event;   // "plan offered", "refused", ...
    std::string detail;  // never a secret
    std::string chain;   // SHA-256 over the previous record's chain and this record
};

}  // namespace kubexm::executor
