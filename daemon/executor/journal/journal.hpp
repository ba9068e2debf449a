#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/journal/records.hpp"

namespace kubexm::executor {

/// What the executor remember, in SQLite: plans and their steps, the ledger of everything they put
/// on the host, the history and a hash-chained audit. Every function below is one transaction that
/// is on the disk when it returns success; after an error nothing of it is there. Never holds a
/// secret. One thread.
///
/// exhausted: disk full. unavailable: an I/O error. denied: read-only. All three name the file,
/// leave the old state intact and can be tried again when the fault is gone. corrupt: the database
/// is damaged. Every record is checked against its checksum whenever it is read.
///
/// Texts of errors and of the audit are kept up to 4096 bytes.
class Journal {
public:
    struct Limits {
        std::uint32_t finished_plans = 200;   // older ones are dropped, with their steps
        std::uint32_t known_ids = 20000;      // of dropped plans, so that none is taken in twice
        std::uint32_t audit_records = 20000;  // older ones are dropped; the chain goes on
    };

    /// Opens or makes `directory`/journal.db. Checks integrity and the audit chain first: corrupt,
    /// with what was found, where either does not hold, where a journal that was set aside
    /// (recovery.hpp) waits for a decision, and where the vault has content but there is no
    /// journal. conflict: another process has it open. invalid: a newer program wrote it.
    static Result<Journal> open(const std::string& directory, const Limits& limits);
    Journal(Journal&&) noexcept;
    Journal& operator=(Journal&&) noexcept;
    ~Journal();

    /// The checks of open() once more.
    Result<> verify();

    // --- plans

    /// Takes a plan in, running, with all steps pending; the times are the journal's own.
    /// conflict: the id was seen before, or another plan is running.
    Result<> begin(const PlanRecord& plan, std::uint32_t steps);
    /// Whether no plan of this id was ever taken in. conflict: one was.
    Result<> is_new(std::string_view id);
    /// The one plan that is running, if any.
    Result<std::optional<PlanRecord>> running();
    Result<PlanRecord> plan(std::string_view id);
    /// Newest first.
    Result<std::vector<PlanRecord>> history(std::uint32_t limit);
    /// `counts`: whether a failure is one of a row, see below.
    Result<> set_plan_state(std::string_view id, PlanState state, bool undoing,
                            std::string_view error, bool counts = true);
    /// Failures in a row of plans with this hash and this error, and when the last one was. A plan
    /// that succeeds, or fails another way, ends the row; one that is cancelled does not. Failures
    /// of undoing are a row of their own.
    struct Failures {
        std::uint32_t count = 0;
        std::int64_t last_at = 0;
    };
    Result<Failures> failures(std::string_view hash, std::string_view error);

    // --- steps; each also writes what the ledger must know, in the same transaction

    /// Before a step changes the host: remembers the pre-image, unless the object is in the ledger.
    /// Owner, plan and step of the entry are in any case those of this change.
    Result<> prepared(std::string_view plan_id, std::uint32_t index, const LedgerEntry& entry);
    Result<> finished(std::string_view plan_id, std::uint32_t index, StepState state,
                      std::string_view error);

    // --- ledger

    Result<std::optional<LedgerEntry>> ledger_entry(std::string_view type, std::string_view target);
    /// Everything of an owner, the newest first: the order of undo. An empty owner means all.
    Result<std::vector<LedgerEntry>> ledger(std::string_view owner);
    /// The object is as it was before us.
    Result<> taken_back(std::int64_t sequence);

    // --- audit

    Result<> audit(std::uint32_t uid, std::int64_t pid, std::string_view event,
                   std::string_view detail);
    /// Newest first.
    Result<std::vector<AuditRecord>> audit_trail(std::uint32_t limit);

private:
    struct Impl;
    explicit Journal(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace kubexm::executor
