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

inline constexpr std::string_view kPlanOffered = "plan offered";  // an event of the audit

/// The executor's durable state, in SQLite: plans and their steps, the ledger of owned objects,
/// and a hash-chained audit. Every function below is one transaction: on the disk after success,
/// without effect after an error. Never contains a secret. One thread.
///
/// exhausted: disk full. unavailable: an I/O error. denied: read-only. All three name the file,
/// leave the old state intact and can be retried. corrupt: the database is damaged. Every record is
/// checked against its checksum whenever it is read.
///
/// Texts of errors and of the audit are cut after 4096 bytes.
class Journal {
public:
    /// Of plans of root, and as many of all others; outcomes of machines have limits of their own.
    struct Limits {
        std::uint32_t finished_plans = 200;  // older ones are dropped, with their steps
        std::uint32_t outcomes = 200;        // of owners without an object on the host
        std::uint32_t known_ids = 20000;     // of dropped plans: no id is accepted twice
        /// Older records of the audit are dropped when they are older than a week, too. The records
        /// that one user can add in that time are bounded (AuditQueue, Quota). The chain stays
        /// valid.
        std::uint32_t audit_records = 20000;
        std::int64_t audit_seconds = std::int64_t{7} * 24 * 3600;
    };

    /// Opens or creates `directory`/journal.db and verifies all of it. corrupt: it is damaged, a
    /// quarantined journal (recovery.hpp) waits for a decision, or the vault has content but there
    /// is no journal. conflict: another process has it open. invalid: a newer program wrote it.
    static Result<Journal> open(const std::string& directory, const Limits& limits);
    Journal(Journal&&) noexcept;
    Journal& operator=(Journal&&) noexcept;
    ~Journal();

    /// Repeats the checks of open().
    Result<> verify();

    // --- plans

    /// Records a plan as running with all steps pending, and the time. conflict: the id was
    /// accepted before, or another plan is running.
    Result<> begin(const PlanRecord& plan, std::uint32_t steps);
    /// conflict: a plan with this id was accepted before.
    Result<> is_new(std::string_view id);
    /// The one plan that is running, if any.
    Result<std::optional<PlanRecord>> running();
    Result<PlanRecord> plan(std::string_view id);
    /// Newest first.
    Result<std::vector<PlanRecord>> history(std::uint32_t limit);
    /// How a plan ended.
    struct End {
        PlanState state = PlanState::done;
        std::string_view error;
        std::string_view stays;  // PlanRecord::stays
        bool counts = true;      // false: a failure that failures() does not count
    };
    Result<> end(std::string_view id, const End& end);
    /// The last plan of each owner and purpose with its outcome, newest first.
    Result<std::vector<OutcomeRecord>> outcomes();
    /// The number of failures in a row of plans with this hash and this error, and the time of the
    /// last. Success or another error ends the row, cancelling does not. Undos are not counted.
    struct Failures {
        std::uint32_t count = 0;
        std::int64_t last_at = 0;
    };
    Result<Failures> failures(std::string_view hash, std::string_view error);

    // --- steps and the ledger

    /// Changes steps of a plan and, for its owner, the entries of their objects. The first
    /// pre-image of an object stays. not_found: no such plan or step.
    Result<> record(std::string_view plan_id, const StepChanges& changes);

    Result<std::optional<LedgerEntry>> ledger_entry(std::string_view type, std::string_view target);
    /// The entries of an owner, newest first: the order of undo. An empty owner means all.
    Result<std::vector<LedgerEntry>> ledger(std::string_view owner);
    struct Size {
        std::int64_t entries = 0;
        std::int64_t owners = 0;
    };
    /// Of the ledger.
    Result<Size> size();
    /// Removes the owner of a plan from entries. An entry without owners is removed: its pre-image
    /// is restored. `stays` is PlanRecord::stays so far. not_found: no such entry of the owner.
    Result<> undone(std::string_view plan_id, const std::vector<UndoneEntry>& entries,
                    std::string_view stays = {});
    /// Before an undo applies the step of a remaining owner.
    Result<> reapplying(std::int64_t sequence, std::string_view step, std::string_view written);

    // --- audit

    Result<> audit(std::uint32_t uid, std::int64_t pid, std::string_view event,
                   std::string_view detail);
    /// The plans that a user has offered since a time; only the newest 4000 records count.
    struct Offers {
        std::int64_t count = 0;
        std::int64_t first_at = 0;
    };
    Result<Offers> offers(std::uint32_t uid, std::int64_t since);
    /// Newest first. For tests: programs read the audit with SQLite.
    Result<std::vector<AuditRecord>> audit_trail(std::uint32_t limit);

private:
    struct Impl;
    explicit Journal(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace kubexm::executor
