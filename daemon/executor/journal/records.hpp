#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kubexm::executor {

enum class PlanState {
    running,    // forward, or backward for an undo
    done,       // every step holds
    failed,     // stopped at a step; finished steps stay in the ledger
    cancelled,  // stopped at a step boundary on request
    undone,     // end of an undo: every pre-image of the owner is restored
};

enum class StepState {
    pending,
    prepared,  // the pre-image is on disk; the host may or may not have changed
    done,
    skipped,  // held already
    failed,
};

struct StepRecord {
    std::uint32_t index = 0;
    StepState state = StepState::pending;
    std::string error;  // of the last try
};

struct PlanRecord {
    std::string id;
    std::string hash;
    std::string owner;
    std::string document;  // the plan's JSON form
    PlanState state = PlanState::running;
    bool undoing = false;        // an undo: restores the owner's ledger, has no steps
    std::uint32_t failures = 0;  // in a row, with the same error
    std::string last_error;
    std::int64_t started_at = 0;  // seconds since 1970
    std::int64_t changed_at = 0;
    std::vector<StepRecord> steps;
};

/// One object on the host that a plan changed. `type` and `target` are those of the step. The first
/// pre-image stays when the object is changed again.
struct LedgerEntry {
    std::int64_t sequence = 0;  // undo goes from the highest to the lowest
    std::string owner;
    std::string type;
    std::string target;
    std::string step;       // JSON form of the step that was last prepared: undo needs it
    std::string applied;    // JSON form of the step that was last done; empty: none
    std::string pre_image;  // JSON form of the state before the first change
    std::string plan_id;
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
