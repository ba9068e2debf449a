#include "daemon/executor/journal/audit.hpp"

#include <algorithm>
#include <ctime>

#include "daemon/base/try.hpp"
#include "daemon/executor/journal/rows.hpp"
#include "daemon/executor/journal/text.hpp"

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

/// One record more than `limit` where there is one: the predecessor of the last.
Result<std::vector<AuditRecord>> read_newest(const sqlite::Database& database, std::int64_t limit) {
    auto statement =
        TRY(select<AuditRecord>(database, "ORDER BY sequence DESC LIMIT ?", limit + 1));
    std::vector<AuditRecord> records;
    for (;;) {
        const bool more = TRY(statement.step());
        if (!more) return records;
        auto [record, seal] = read_row<AuditRecord>(statement);
        record.chain = std::move(seal);
        records.push_back(std::move(record));
    }
}

Result<> check_chain(const sqlite::Database& database, const std::vector<AuditRecord>& records,
                     const AuditEnds& ends) {
    for (std::size_t i = 0; i < records.size(); ++i) {
        const bool oldest = records[i].sequence == ends.first;
        if (!oldest && i + 1 == records.size()) continue;  // read as a predecessor only
        const std::string& previous = oldest ? ends.anchor : records[i + 1].chain;
        if (records[i].chain == seal_of(records[i], previous)) continue;
        return fail(Code::corrupt, fmt::format("{}: the audit chain breaks at record {}",
                                               database.file(), records[i].sequence));
    }
    return {};
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
                             .event = clipped(event.event),
                             .detail = clipped(event.detail)};
    TRY(put(database, record, ends.head));
    ends.last = record.sequence;
    ends.head = seal_of(record, ends.head);
    TRY(drop_old_records(database, ends, limits));
    return put(database, ends);
}

Result<std::vector<AuditRecord>> newest_audit(const sqlite::Database& database,
                                              std::uint32_t limit) {
    const AuditEnds ends = TRY(audit_ends(database));
    auto records = TRY(read_newest(database, limit));
    TRY(check_chain(database, records, ends));
    if (records.size() > limit) records.pop_back();
    return records;
}

}  // namespace kubexm::executor::journal
