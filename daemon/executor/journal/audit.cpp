#include "daemon/executor/journal/audit.hpp"

#include <algorithm>
#include <ctime>

#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/journal/rows.hpp"

namespace kubexm::executor::journal {

namespace {

/// The first record that stays. A few are dropped with every new one.
Result<std::int64_t> first_to_keep(const sqlite::Database& database, const AuditEnds& ends,
                                   const Journal::Limits& limits) {
    constexpr std::int64_t kAtOnce = 64;
    const std::int64_t newest = ends.last - limits.audit_records + 1;
    const std::int64_t end = std::min(newest, ends.first + kAtOnce);
    if (end <= ends.first) return ends.first;
    return database.number(
        "SELECT coalesce(min(sequence), ?) FROM audit WHERE sequence < ? AND at > ?", end, end,
        std::int64_t{std::time(nullptr)} - limits.audit_seconds);
}

Result<> drop_old_records(const sqlite::Database& database, AuditEnds& ends,
                          const Journal::Limits& limits) {
    const std::int64_t first = TRY(first_to_keep(database, ends, limits));
    if (first <= ends.first) return {};
    ends.anchor = TRY(database.text("SELECT seal FROM audit WHERE sequence = ?", first - 1));
    ends.first = first;
    return database.run("DELETE FROM audit WHERE sequence < ?", first);
}

}  // namespace

Result<AuditEnds> audit_ends(const sqlite::Database& database) {
    auto ends = TRY(find<AuditEnds>(database, ""));
    if (ends) return *std::move(ends);
    return fail(Code::corrupt, database.file() + ": the row of audit_ends is missing");
}

Result<> append_audit(const sqlite::Database& database, const AuditEvent& event,
                      const Journal::Limits& limits) {
    AuditEnds ends = TRY(audit_ends(database));
    const AuditRecord record{.sequence = ends.last + 1,
                             .at = std::time(nullptr),
                             .uid = event.uid,
                             .pid = event.pid,
                             .event = bounded_utf8(event.event, kMaxText),
                             .detail = bounded_utf8(event.detail, kMaxText)};
    TRY(put(database, record, ends.head));
    ends.last = record.sequence;
    ends.head = seal_of(record, ends.head);
    TRY(drop_old_records(database, ends, limits));
    return put(database, ends);
}

Result<std::vector<AuditRecord>> newest_audit(const sqlite::Database& database,
                                              std::uint32_t limit) {
    auto statement =
        TRY(select<AuditRecord>(database, "ORDER BY sequence DESC LIMIT ?", std::int64_t{limit}));
    std::vector<AuditRecord> records;
    for (;;) {
        const bool more = TRY(statement.step());
        if (!more) return records;
        auto [record, seal] = read_row<AuditRecord>(statement);
        record.chain = std::move(seal);
        records.push_back(std::move(record));
    }
}

}  // namespace kubexm::executor::journal
