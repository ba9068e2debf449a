#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/base/error.hpp"
#include "daemon/base/try.hpp"

struct sqlite3;
struct sqlite3_stmt;

// Owners of SQLite objects. Private to this module. Every error names the file.

namespace kubexm::executor::journal::sqlite {

/// The error of a statement that is valid in every database: an internal error becomes corrupt.
std::unexpected<Error> blame_file(Error error);

struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
};
using StatementHandle = std::unique_ptr<sqlite3_stmt, Finalize>;

/// Statements that are not in use, by their text: to compile one takes longer than to run it.
class IdleStatements {
public:
    /// Null: none of this text.
    sqlite3_stmt* take(const std::string& sql);
    void put(sqlite3_stmt* statement);
    void clear() { statements_.clear(); }

private:
    std::map<std::string, StatementHandle> statements_;
};

/// A statement with bound values, to be stepped through once.
class Statement {
public:
    /// True: a row can be read. False: the end.
    Result<bool> step();
    std::int64_t integer(int column) const;
    std::string text(int column) const;
    /// The database file, for messages.
    std::string file() const;

    // Binds the placeholders from left to right; step() returns the error of a bind.
    void bind(std::int64_t value);
    void bind(std::string_view value);

private:
    friend class Database;
    struct PutBack {
        IdleStatements* to = nullptr;
        void operator()(sqlite3_stmt* statement) const { to->put(statement); }
    };
    Statement(sqlite3_stmt* statement, IdleStatements& idle) : handle_(statement, PutBack{&idle}) {}

    std::unique_ptr<sqlite3_stmt, PutBack> handle_;
    int bound_ = 0;
    int problem_ = 0;  // result code of the first bind that failed
};

/// An open database file. Must outlive its statements.
class Database {
public:
    /// The file must exist; ":memory:" is a database without a file.
    static Result<Database> open(const std::string& path);

    template <typename... Values>
    Result<Statement> query(std::string_view sql, const Values&... values) const {
        auto statement = prepare(sql);
        if (statement) (statement->bind(values), ...);
        return statement;
    }
    /// Runs one statement and ignores its rows.
    template <typename... Values>
    Result<> run(std::string_view sql, const Values&... values) const {
        auto statement = TRY(query(sql, values...));
        return exhaust(statement);
    }
    /// The first column of the first row; empty without a row.
    template <typename... Values>
    Result<std::string> text(std::string_view sql, const Values&... values) const {
        auto statement = TRY(query(sql, values...));
        return first(statement);
    }
    /// The same for a statement that always has one row with a number.
    template <typename... Values>
    Result<std::int64_t> number(std::string_view sql, const Values&... values) const {
        auto statement = TRY(query(sql, values...));
        TRY(statement.step());
        return statement.integer(0);
    }
    /// Several statements without values.
    Result<> script(const char* sql) const;

    bool in_transaction() const;
    /// Whether SQLite refuses to write, independent of the file's permissions.
    bool read_only() const;
    /// Moves committed pages from the write-ahead log into the file.
    Result<> checkpoint() const;
    /// The whole file as bytes.
    std::string image() const;
    /// Frees cached pages and statements.
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
    std::unique_ptr<IdleStatements> idle_ = std::make_unique<IdleStatements>();
};

}  // namespace kubexm::executor::journal::sqlite
