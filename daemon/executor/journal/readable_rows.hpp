#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/executor/journal/sqlite.hpp"
#include "daemon/executor/journal/tables.hpp"

namespace kubexm::executor::journal {

/// The rows of a damaged database that can be read and match their checksum, by sequence. Private
/// to this module.
struct ReadableRows {
    std::map<std::int64_t, LedgerEntry> ledger;  // each with at least one owner
    std::map<std::int64_t, OutcomeRecord> outcomes;
    std::map<std::int64_t, PlanRow> plans;  // with all their steps
    std::map<std::int64_t, std::string> seen;
    std::vector<std::string> damage;  // findings, one line each
};

void collect(const sqlite::Database& database, ReadableRows& rows);

}  // namespace kubexm::executor::journal
