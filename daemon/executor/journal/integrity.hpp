#pragma once

#include "daemon/base/error.hpp"
#include "daemon/executor/journal/sqlite.hpp"

namespace kubexm::executor::journal {

/// SQLite's integrity check. corrupt: its first finding.
Result<> verify_structure(const sqlite::Database& database);

/// Every row against its seal, every plan against its steps, and the audit chain from its anchor to
/// its head. corrupt: the first mismatch.
Result<> verify_records(const sqlite::Database& database);

}  // namespace kubexm::executor::journal
