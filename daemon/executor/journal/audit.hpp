#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/journal/records.hpp"
#include "daemon/executor/journal/sqlite.hpp"
#include "daemon/executor/journal/tables.hpp"

namespace kubexm::executor::journal {

/// Who did it and what, for the audit.
struct AuditEvent {
    std::uint32_t uid = 0;
    std::int64_t pid = 0;
    std::string_view event;
    std::string_view detail;
};

/// corrupt: they are missing or damaged.
Result<AuditEnds> ends_of_audit(const sqlite::Database& database);

/// Chains a record to the newest one and drops the oldest beyond `limit`, moving the anchor; call
/// inside a transaction.
Result<> append_audit(const sqlite::Database& database, const AuditEvent& event,
                      std::uint32_t limit);

/// The newest records, newest first, each checked against its chain.
Result<std::vector<AuditRecord>> newest_audit(const sqlite::Database& database,
                                              std::uint32_t limit);

}  // namespace kubexm::executor::journal
