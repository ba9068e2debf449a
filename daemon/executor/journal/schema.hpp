#pragma once

#include <span>

#include "daemon/base/error.hpp"
#include "daemon/executor/journal/sqlite.hpp"

namespace kubexm::executor::journal {

/// What makes version n + 1 of the schema out of version n, from an empty database on. Files on
/// hosts were made by these: only ever add one at the end.
using Migrations = std::span<const char* const>;
Migrations migrations();

/// The version of a database that is as that version must be. corrupt: it is not, or it is empty.
/// invalid: made by a later program.
Result<std::int64_t> check_schema(const sqlite::Database& database, Migrations known);

/// Brings a database to the newest version; call inside a transaction.
Result<> migrate(const sqlite::Database& database, std::int64_t from, Migrations known);

}  // namespace kubexm::executor::journal
