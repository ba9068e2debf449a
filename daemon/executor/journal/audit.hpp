#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/journal/journal.hpp"
#include "daemon/executor/journal/records.hpp"
#include "daemon/executor/journal/sqlite.hpp"
#include "daemon/executor/journal/tables.hpp"

namespace kubexm::executor::journal {

/// An audit record before it has a sequence and a time.
struct AuditEvent {
    std::uint32_t uid = 0;
    std::int64_t pid = 0;
    std::string_view event;
    std::string_view detail;
};

/// corrupt: the row is missing or damaged.
Result<AuditEnds> audit_ends(const sqlite::Database& database);

/// Chains a record to the newest one and drops the oldest beyond the limits, moving the anchor.
/// Call it inside a transaction.
Result<> append_audit(const sqlite::Database& database, const AuditEvent& event,
                      const Journal::Limits& limits);

/// Newest first. For tests: verify_records() checks the chain.
Result<std::vector<AuditRecord>> newest_audit(const sqlite::Database& database,
                                              std::uint32_t limit);

}  // namespace kubexm::executor::journal
