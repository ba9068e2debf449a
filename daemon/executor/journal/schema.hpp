#pragma once

#include <span>

#include "daemon/base/error.hpp"
#include "daemon/executor/journal/sqlite.hpp"

namespace kubexm::executor::journal {

/// The n-th script makes version n + 1 of the schema out of version n; version 0 is an empty
/// database. After a release only append.
using Migrations = std::span<const char* const>;
Migrations migrations();

/// The version of a database. corrupt: the tables are not those of the version. invalid: written by
/// a newer program.
Result<std::int64_t> check_schema(const sqlite::Database& database, Migrations known);

/// Migrates a database to the newest version. Call it inside a transaction.
Result<> migrate(const sqlite::Database& database, std::int64_t from, Migrations known);

}  // namespace kubexm::executor::journal
