#include "daemon/executor/journal/integrity.hpp"

#include <fmt/format.h>

#include "daemon/base/try.hpp"
#include "daemon/executor/journal/audit.hpp"
#include "daemon/executor/journal/rows.hpp"

namespace kubexm::executor::journal {

namespace {

Result<> damaged(const sqlite::Database& database, std::string_view what) {
    return fail(Code::corrupt, fmt::format("{}: {}", database.file(), what));
}

template <typename Row>
Result<> verify_table(const sqlite::Database& database) {
    auto statement = TRY(select<Row>(database, ""));
    for (;;) {
        const auto row = TRY(next<Row>(statement));
        if (!row) return {};
    }
}

/// A plan has exactly the steps 0 to n - 1. Their numbers are unique: the count and the highest
/// number are enough.
Result<> verify_steps(const sqlite::Database& database) {
    const std::string id = TRY(database.text(
        "SELECT id FROM plans WHERE steps <> (SELECT count(*) FROM steps WHERE plan = sequence) "
        "OR EXISTS(SELECT 1 FROM steps WHERE plan = sequence AND number >= plans.steps)"));
    if (id.empty()) return {};
    return damaged(database, "plan " + id + " lost steps or has steps of another plan");
}

Result<> verify_references(const sqlite::Database& database) {
    const std::string table = TRY(database.text("PRAGMA foreign_key_check"));
    if (table.empty()) return {};
    return damaged(database, "table " + table + " has records of a missing plan or object");
}

/// An entry without an owner could never be undone.
Result<> verify_owners(const sqlite::Database& database) {
    const std::string target = TRY(database.text(
        "SELECT target FROM ledger WHERE sequence NOT IN (SELECT entry FROM ledger_owners)"));
    if (target.empty()) return {};
    return damaged(database, "ledger: " + target + " lost its owners");
}

/// Follows the chain from the record after `at` and returns its end.
Result<AuditEnds> follow_chain(const sqlite::Database& database, AuditEnds at) {
    auto statement = TRY(select<AuditRecord>(database, "ORDER BY sequence"));
    for (;;) {
        const bool more = TRY(statement.step());
        if (!more) return at;
        const auto [record, seal] = read_row<AuditRecord>(statement);
        if (seal != seal_of(record, at.head)) {
            return fail(Code::corrupt,
                        fmt::format("{}: the audit chain breaks at record {}: expected record {}",
                                    database.file(), record.sequence, at.last + 1));
        }
        at.last = record.sequence;
        at.head = seal;
    }
}

Result<> verify_audit(const sqlite::Database& database) {
    const AuditEnds ends = TRY(audit_ends(database));
    AuditEnds start = ends;
    start.last = start.first - 1;
    start.head = start.anchor;
    const AuditEnds found = TRY(follow_chain(database, start));
    if (found.last == ends.last && found.head == ends.head) return {};
    return damaged(database, fmt::format("the audit ends at record {}: expected record {}",
                                         found.last, ends.last));
}

}  // namespace

Result<> verify_structure(const sqlite::Database& database) {
    const std::string found = TRY(database.text("PRAGMA integrity_check(1)"));
    if (found == "ok") return {};
    return damaged(database, found);
}

Result<> verify_records(const sqlite::Database& database) {
    for (const auto verify :
         {verify_table<PlanRow>, verify_table<StepRow>, verify_table<FailureRow>,
          verify_table<OutcomeRecord>, verify_table<LedgerEntry>, verify_table<LedgerOwner>,
          verify_steps, verify_owners, verify_references, verify_audit}) {
        TRY(verify(database));
    }
    return {};
}

}  // namespace kubexm::executor::journal
