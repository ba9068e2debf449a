#include "daemon/executor/journal/audit.hpp"

#include "daemon/executor/journal/rows.hpp"
#include "daemon/executor/journal/text.hpp"

namespace kubexm::executor::journal {

namespace {

Result<> drop_old_records(const sqlite::Database& database, AuditEnds& ends, std::uint32_t limit) {
    const std::int64_t first = ends.last - limit + 1;
    if (first <= ends.first) return {};
    auto anchor = database.text("SELECT seal FROM audit WHERE sequence = ?", first - 1);
    if (!anchor) return std::unexpected(anchor.error());
    ends.first = first;
    ends.anchor = *std::move(anchor);
    return database.run("DELETE FROM audit WHERE sequence < ?", first);
}

/// Records with one more at the end where there is one: the predecessor of the last.
Result<std::vector<AuditRecord>> read_newest(const sqlite::Database& database, std::int64_t limit) {
    auto statement = select<AuditRecord>(database, "ORDER BY sequence DESC LIMIT ?", limit + 1);
    if (!statement) return std::unexpected(statement.error());
    std::vector<AuditRecord> records;
    for (;;) {
        auto more = statement->step();
        if (!more) return std::unexpected(more.error());
        if (!*more) return records;
        auto [record, seal] = read_row<AuditRecord>(*statement);
        record.chain = std::move(seal);
        records.push_back(std::move(record));
    }
}

Result<> check_chain(const sqlite::Database& database, const std::vector<AuditRecord>& records,
                     const AuditEnds& ends) {
    for (std::size_t i = 0; i < records.size(); ++i) {
        const bool oldest = records[i].sequence == ends.first;
        if (!oldest && i + 1 == records.size()) continue;  // only there as a predecessor
        const std::string& previous = oldest ? ends.anchor : records[i + 1].chain;
        if (records[i].chain == seal_of(records[i], previous)) continue;
        return fail(Code::corrupt, fmt::format("{}: audit record {} does not fit its chain",
                                               database.file(), records[i].sequence));
    }
    return {};
}

}  // namespace

Result<AuditEnds> ends_of_audit(const sqlite::Database& database) {
    auto found = find<AuditEnds>(database, "");
    if (!found) return std::unexpected(found.error());
    std::optional<AuditEnds>& ends = *found;
    if (ends) return *std::move(ends);
    return fail(Code::corrupt, database.file() + ": the ends of the audit chain are missing");
}

Result<> append_audit(const sqlite::Database& database, const AuditEvent& event,
                      std::uint32_t limit) {
    auto ends = ends_of_audit(database);
    if (!ends) return std::unexpected(ends.error());
    const AuditRecord record{.sequence = ends->last + 1,
                             .at = now(),
                             .uid = event.uid,
                             .pid = event.pid,
                             .event = clipped(event.event),
                             .detail = clipped(event.detail)};
    if (auto added = put(database, record, ends->head); !added) return added;
    ends->last = record.sequence;
    ends->head = seal_of(record, ends->head);
    if (auto dropped = drop_old_records(database, *ends, limit); !dropped) return dropped;
    return put(database, *ends);
}

Result<std::vector<AuditRecord>> newest_audit(const sqlite::Database& database,
                                              std::uint32_t limit) {
    auto ends = ends_of_audit(database);
    if (!ends) return std::unexpected(ends.error());
    auto records = read_newest(database, limit);
    if (!records) return records;
    if (auto good = check_chain(database, *records, *ends); !good) {
        return std::unexpected(good.error());
    }
    if (records->size() > limit) records->pop_back();
    return records;
}

}  // namespace kubexm::executor::journal
