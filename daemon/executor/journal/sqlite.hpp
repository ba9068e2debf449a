#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/base/error.hpp"

struct sqlite3;
struct sqlite3_stmt;

// SQLite as values: private to this module. Every error names the file and carries the code that
// says what to do about it.

namespace kubexm::executor::journal::sqlite {

/// The error of a statement that is right in every database: then the file is not right.
std::unexpected<Error> blame_file(Error error);

/// A statement with its values bound, to be stepped through once.
class Statement {
public:
    /// True where a row is there to be read, false at the end.
    Result<bool> step();
    std::int64_t integer(int column) const;
    std::string text(int column) const;
    /// The database file, for messages.
    std::string file() const;

    // Values go to the placeholders from left to right; what goes wrong is said by step().
    void bind(std::int64_t value);
    void bind(std::string_view value);

private:
    friend class Database;
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    explicit Statement(sqlite3_stmt* statement) : handle_(statement) {}

    std::unique_ptr<sqlite3_stmt, Finalize> handle_;
    int bound_ = 0;
    int problem_ = 0;  // the first result code of a bind that was not OK
};

/// An open database file. Closed when it goes; all its statements must be gone by then.
class Database {
public:
    /// The file must exist; ":memory:" is one that never reaches a disk.
    static Result<Database> open(const std::string& path);

    template <typename... Values>
    Result<Statement> query(std::string_view sql, const Values&... values) const {
        auto statement = prepare(sql);
        if (statement) (statement->bind(values), ...);
        return statement;
    }
    /// Runs one statement to its end; its rows are dropped.
    template <typename... Values>
    Result<> run(std::string_view sql, const Values&... values) const {
        auto statement = query(sql, values...);
        if (!statement) return std::unexpected(statement.error());
        return exhaust(*statement);
    }
    /// The first column of the first row; empty where there is no row.
    template <typename... Values>
    Result<std::string> text(std::string_view sql, const Values&... values) const {
        auto statement = query(sql, values...);
        if (!statement) return std::unexpected(statement.error());
        return first(*statement);
    }
    /// The same for a statement that always gives one number.
    template <typename... Values>
    Result<std::int64_t> number(std::string_view sql, const Values&... values) const {
        auto statement = query(sql, values...);
        if (!statement) return std::unexpected(statement.error());
        if (auto row = statement->step(); !row) return std::unexpected(row.error());
        return statement->integer(0);
    }
    /// Several statements without values.
    Result<> script(const char* sql) const;

    bool in_transaction() const;
    /// Where SQLite will not write, whatever the file's permissions say.
    bool read_only() const;
    /// Moves what is committed from the write-ahead log into the file itself.
    Result<> checkpoint() const;
    /// The whole file as bytes.
    std::string image() const;
    /// Gives cached pages back to the system.
    void release_memory() const;
    std::string file() const;

private:
    struct Close {
        void operator()(sqlite3* database) const;
    };
    explicit Database(sqlite3* database) : handle_(database) {}
    Result<Statement> prepare(std::string_view sql) const;
    static Result<> exhaust(Statement& statement);
    static Result<std::string> first(Statement& statement);

    std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace kubexm::executor::journal::sqlite
