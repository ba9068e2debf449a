#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/digest.hpp"
#include "daemon/base/names.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/journal/sqlite.hpp"
#include "daemon/executor/journal/tables.hpp"
#include "daemon/model/plan_states.hpp"

// Reads and writes rows. SQLite's own check finds a damaged tree but not a damaged value, so every
// row ends with a seal: SHA-256 over its columns. Every read checks the seal.

namespace kubexm::executor::journal {

inline constexpr std::size_t kMaxText = 4096;  // bytes of an error or of a text of the audit

/// The columns of a row as one text, every value after its length: different rows have different
/// texts.
class SealInput {
public:
    explicit SealInput(std::string_view table) { add(table); }

    // Without fmt::format(): open() computes the seal of every row.
    void add(std::string_view value) {
        const fmt::format_int size(value.size());
        text_.append(size.data(), size.size()).append(":").append(value);
    }
    template <std::integral Number>
    void add(Number value) {
        const fmt::format_int digits(static_cast<std::int64_t>(value));
        add(std::string_view(digits.data(), digits.size()));
    }
    template <Named Enum>
    void add(Enum value) {
        add(name_of(value));
    }
    std::string digest() const {
        thread_local Sha256 sha256;  // constructing one costs as much as one digest
        sha256.update(text_);
        return sha256.finish();
    }

private:
    std::string text_;
};

/// `previous`: the seal of the row before, in a chain.
template <typename Row>
std::string seal_of(const Row& row, std::string_view previous = {}) {
    SealInput input(Table<Row>::kName);
    input.add(previous);
    Table<Row>::columns(row, [&](std::string_view, const auto& value) { input.add(value); });
    return input.digest();
}

/// "sequence, owner, ..., seal"
template <typename Row>
std::string columns_of() {
    std::string list;
    const Row row;
    Table<Row>::columns(
        row, [&](std::string_view name, const auto&) { list += fmt::format("\"{}\", ", name); });
    return list + "seal";
}

/// Reads the columns of a row from left to right. A value out of range becomes another value, which
/// does not match the seal.
struct ColumnReader {
    const sqlite::Statement& statement;
    int column = 0;

    void operator()(std::string_view, std::string& value) { value = statement.text(column++); }
    void operator()(std::string_view, std::int64_t& value) { value = statement.integer(column++); }
    void operator()(std::string_view, std::uint32_t& value) {
        value = static_cast<std::uint32_t>(statement.integer(column++));
    }
    void operator()(std::string_view, bool& value) { value = statement.integer(column++) != 0; }
    template <Named Enum>
    void operator()(std::string_view, Enum& value) {
        value = from_name<Enum>(statement.text(column++)).value_or(value);
    }
};

template <typename Row>
struct Sealed {
    Row row;
    std::string seal;
};

template <typename Row>
Sealed<Row> read_row(const sqlite::Statement& statement) {
    Sealed<Row> read;
    ColumnReader reader{statement};
    Table<Row>::columns(read.row, reader);
    read.seal = statement.text(reader.column);
    return read;
}

template <typename Row>
std::unexpected<Error> broken_seal(const sqlite::Statement& statement) {
    return fail(Code::corrupt, fmt::format("{}: record {} of {} is damaged (wrong checksum)",
                                           statement.file(), statement.text(0), Table<Row>::kName));
}

template <typename Row, typename... Values>
Result<sqlite::Statement> select(const sqlite::Database& database, std::string_view tail,
                                 const Values&... values) {
    const std::string sql =
        fmt::format("SELECT {} FROM {} {}", columns_of<Row>(), Table<Row>::kName, tail);
    return database.query(sql, values...);
}

/// The next row of a select; nothing at the end. corrupt: wrong seal.
template <typename Row>
Result<std::optional<Row>> next(sqlite::Statement& statement) {
    const bool more = TRY(statement.step());
    if (!more) return std::nullopt;
    Sealed<Row> read = read_row<Row>(statement);
    if (read.seal != seal_of(read.row)) return broken_seal<Row>(statement);
    return std::move(read.row);
}

/// `tail` follows the table: "WHERE ... ORDER BY ...".
template <typename Row, typename... Values>
Result<std::optional<Row>> find(const sqlite::Database& database, std::string_view tail,
                                const Values&... values) {
    auto statement = TRY(select<Row>(database, tail, values...));
    return next<Row>(statement);
}

template <typename Row, typename... Values>
Result<std::vector<Row>> find_all(const sqlite::Database& database, std::string_view tail,
                                  const Values&... values) {
    auto statement = TRY(select<Row>(database, tail, values...));
    std::vector<Row> rows;
    for (;;) {
        auto row = TRY(next<Row>(statement));
        if (!row) return rows;
        rows.push_back(*std::move(row));
    }
}

/// Binds the columns of a row from left to right.
struct ColumnWriter {
    sqlite::Statement& statement;

    void operator()(std::string_view, const std::string& value) const { statement.bind(value); }
    template <std::integral Number>
    void operator()(std::string_view, Number value) const {
        statement.bind(static_cast<std::int64_t>(value));
    }
    template <Named Enum>
    void operator()(std::string_view, Enum value) const {
        statement.bind(name_of(value));
    }
};

/// "INSERT ... ON CONFLICT(key) DO UPDATE ...". REPLACE would delete the row first and, by cascade,
/// the steps of a plan.
template <typename Row>
std::string upsert_statement() {
    std::string places;
    std::string changes = "seal = excluded.seal";
    const Row row;
    Table<Row>::columns(row, [&](std::string_view name, const auto&) {
        places += "?, ";
        changes += fmt::format(", \"{0}\" = excluded.\"{0}\"", name);
    });
    return fmt::format("INSERT INTO {}({}) VALUES({}?) ON CONFLICT({}) DO UPDATE SET {}",
                       Table<Row>::kName, columns_of<Row>(), places, Table<Row>::kKey, changes);
}

/// Inserts a row, or replaces the one with its key.
template <typename Row>
Result<> put(const sqlite::Database& database, const Row& row, std::string_view previous = {}) {
    auto statement = TRY(database.query(upsert_statement<Row>()));
    Table<Row>::columns(row, ColumnWriter{statement});
    statement.bind(seal_of(row, previous));
    TRY(statement.step());
    return {};
}

inline Result<> put_with_owners(const sqlite::Database& database, const LedgerEntry& entry) {
    TRY(put(database, entry));
    for (const LedgerOwner& owner : entry.owners) TRY(put(database, owner));
    return {};
}

inline Result<PlanRow> plan_row(const sqlite::Database& database, std::string_view id) {
    auto row = TRY(find<PlanRow>(database, "WHERE id = ?", id));
    if (row) return *std::move(row);
    return fail(Code::not_found, fmt::format("plan {}: not in the journal", id));
}

}  // namespace kubexm::executor::journal
