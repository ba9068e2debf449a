#include "daemon/executor/journal/integrity.hpp"

#include <fmt/format.h>

#include "daemon/executor/journal/audit.hpp"
#include "daemon/executor/journal/rows.hpp"

namespace kubexm::executor::journal {

namespace {

Result<> damaged(const sqlite::Database& database, std::string_view what) {
    return fail(Code::corrupt, fmt::format("{}: {}", database.file(), what));
}

template <typename Row>
Result<> verify_table(const sqlite::Database& database) {
    auto statement = select<Row>(database, "");
    if (!statement) return std::unexpected(statement.error());
    for (;;) {
        auto row = next<Row>(*statement);
        if (!row) return std::unexpected(row.error());
        if (!*row) return {};
    }
}

/// A plan has exactly the steps 0 to n - 1: their numbers are unique, so two facts say it.
Result<> verify_steps(const sqlite::Database& database) {
    auto id = database.text(
        "SELECT id FROM plans WHERE steps <> (SELECT count(*) FROM steps WHERE plan = sequence) "
        "OR EXISTS(SELECT 1 FROM steps WHERE plan = sequence AND number >= plans.steps)");
    if (!id) return std::unexpected(id.error());
    if (id->empty()) return {};
    return damaged(database, "plan " + *id + " does not have the steps it had");
}

Result<> verify_references(const sqlite::Database& database) {
    auto table = database.text("PRAGMA foreign_key_check");
    if (!table) return std::unexpected(table.error());
    if (table->empty()) return {};
    return damaged(database, *table + " has records that belong to nothing");
}

/// Walks on from the record before `at` and returns where it came to.
Result<AuditEnds> walk_chain(const sqlite::Database& database, AuditEnds at) {
    auto statement = select<AuditRecord>(database, "ORDER BY sequence");
    if (!statement) return std::unexpected(statement.error());
    for (;;) {
        auto more = statement->step();
        if (!more) return std::unexpected(more.error());
        if (!*more) return at;
        const auto [record, seal] = read_row<AuditRecord>(*statement);
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
    auto ends = ends_of_audit(database);
    if (!ends) return std::unexpected(ends.error());
    AuditEnds start = *ends;
    start.last = start.first - 1;
    start.head = start.anchor;
    auto came_to = walk_chain(database, start);
    if (!came_to) return std::unexpected(came_to.error());
    if (came_to->last == ends->last && came_to->head == ends->head) return {};
    return damaged(database, fmt::format("the audit ends at record {}: expected record {}",
                                         came_to->last, ends->last));
}

}  // namespace

Result<> verify_structure(const sqlite::Database& database) {
    auto found = database.text("PRAGMA integrity_check(1)");
    if (!found) return std::unexpected(found.error());
    if (*found == "ok") return {};
    return damaged(database, *found);
}

Result<> verify_records(const sqlite::Database& database) {
    for (const auto verify :
         {verify_table<PlanRow>, verify_table<StepRow>, verify_table<FailureRow>,
          verify_table<LedgerEntry>, verify_steps, verify_references, verify_audit}) {
        if (auto good = verify(database); !good) return good;
    }
    return {};
}

}  // namespace kubexm::executor::journal
