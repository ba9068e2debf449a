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
#include "daemon/executor/journal/names.hpp"
#include "daemon/executor/journal/sqlite.hpp"
#include "daemon/executor/journal/tables.hpp"

// Reading and writing rows. SQLite's own check finds a damaged tree but not a damaged value, so
// every row ends with a seal: SHA-256 over its columns. No row is believed before its seal was
// checked, on whatever way it is read.

namespace kubexm::executor::journal {

/// Columns as text in which no two different rows look alike: every value behind its length.
class Form {
public:
    explicit Form(std::string_view beginning) { add(beginning); }

    // Every row of a journal passes here when it is opened.
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
        thread_local Sha256 sha256;  // to make one costs as much as to use it
        sha256.update(text_);
        return sha256.finish();
    }

private:
    std::string text_;
};

/// `previous` makes a chain: the seal of the row before.
template <typename Row>
std::string seal_of(const Row& row, std::string_view previous = {}) {
    Form form(Table<Row>::kName);
    form.add(previous);
    Table<Row>::columns(row, [&](std::string_view, const auto& value) { form.add(value); });
    return form.digest();
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

/// Takes the columns of a row from left to right. A value that does not fit its type becomes
/// another value: the seal will not.
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
        const std::string word = statement.text(column++);
        for (const auto& [candidate, name] : Names<Enum>::kAll) {
            if (name == word) value = candidate;
        }
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
    return fail(Code::corrupt,
                fmt::format("{}: record {} of {} is damaged: its checksum is another",
                            statement.file(), statement.text(0), Table<Row>::kName));
}

template <typename Row, typename... Values>
Result<sqlite::Statement> select(const sqlite::Database& database, std::string_view tail,
                                 const Values&... values) {
    const std::string sql =
        fmt::format("SELECT {} FROM {} {}", columns_of<Row>(), Table<Row>::kName, tail);
    return database.query(sql, values...);
}

/// The next row of a select; nothing at the end. corrupt: its seal is broken.
template <typename Row>
Result<std::optional<Row>> next(sqlite::Statement& statement) {
    auto more = statement.step();
    if (!more) return std::unexpected(more.error());
    if (!*more) return std::nullopt;
    Sealed<Row> read = read_row<Row>(statement);
    if (read.seal != seal_of(read.row)) return broken_seal<Row>(statement);
    return std::move(read.row);
}

/// `tail` is what follows FROM: "WHERE ... ORDER BY ...".
template <typename Row, typename... Values>
Result<std::optional<Row>> find(const sqlite::Database& database, std::string_view tail,
                                const Values&... values) {
    auto statement = select<Row>(database, tail, values...);
    if (!statement) return std::unexpected(statement.error());
    return next<Row>(*statement);
}

template <typename Row, typename... Values>
Result<std::vector<Row>> find_all(const sqlite::Database& database, std::string_view tail,
                                  const Values&... values) {
    auto statement = select<Row>(database, tail, values...);
    if (!statement) return std::unexpected(statement.error());
    std::vector<Row> rows;
    for (;;) {
        auto found = next<Row>(*statement);
        if (!found) return std::unexpected(found.error());
        std::optional<Row>& row = *found;
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

/// "INSERT ... ON CONFLICT(key) DO UPDATE ...": an upsert, because REPLACE would delete the row
/// first and with it the steps of a plan.
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
    auto statement = database.query(upsert_statement<Row>());
    if (!statement) return std::unexpected(statement.error());
    Table<Row>::columns(row, ColumnWriter{*statement});
    statement->bind(seal_of(row, previous));
    auto done = statement->step();
    if (!done) return std::unexpected(done.error());
    return {};
}

}  // namespace kubexm::executor::journal
