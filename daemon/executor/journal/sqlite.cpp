#include "daemon/executor/journal/sqlite.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <system_error>
#include <utility>

namespace kubexm::executor::journal::sqlite {

namespace {

constexpr int kBusyMilliseconds = 2000;  // root may read the file with sqlite3

/// For results of failed system calls: errno is more precise.
Code code_of_system_error(int number) {
    const Code code = code_of_errno(number);
    const bool is_known =
        code == Code::exhausted || code == Code::denied || code == Code::not_found;
    return is_known ? code : Code::unavailable;
}

Code code_of(int result, int system_error) {
    if (result == SQLITE_IOERR_NOMEM) return Code::exhausted;
    switch (result & 0xff) {
        case SQLITE_FULL:
        case SQLITE_NOMEM:
            return Code::exhausted;
        case SQLITE_IOERR:
        case SQLITE_CANTOPEN:
            return code_of_system_error(system_error);
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return Code::unavailable;
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_AUTH:
            return Code::denied;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return Code::corrupt;
        case SQLITE_TOOBIG:
            return Code::invalid;
        default:
            return Code::internal;
    }
}

bool is_system_error(int result) {
    return (result & 0xff) == SQLITE_IOERR || (result & 0xff) == SQLITE_CANTOPEN;
}

std::string file_of(sqlite3* database) {
    const char* name = ::sqlite3_db_filename(database, "main");
    return name == nullptr || *name == '\0' ? "journal" : name;
}

std::unexpected<Error> failure(sqlite3* database, const std::string& file, int result) {
    const int system_error = is_system_error(result) ? ::sqlite3_system_errno(database) : 0;
    std::string what = fmt::format("{}: {}", file, ::sqlite3_errmsg(database));
    if (system_error != 0) {
        what += " (" + std::generic_category().message(system_error) + ")";
    }
    return fail(code_of(result, system_error), what);
}

std::unexpected<Error> failure(sqlite3* database) {
    return failure(database, file_of(database), ::sqlite3_extended_errcode(database));
}

}  // namespace

std::unexpected<Error> blame_file(Error error) {
    if (error.code == Code::internal) error.code = Code::corrupt;
    return std::unexpected(std::move(error));
}

// --- Statements

void Finalize::operator()(sqlite3_stmt* statement) const { ::sqlite3_finalize(statement); }

sqlite3_stmt* IdleStatements::take(const std::string& sql) {
    auto found = statements_.extract(sql);
    return found.empty() ? nullptr : found.mapped().release();
}

void IdleStatements::put(sqlite3_stmt* statement) {
    ::sqlite3_reset(statement);  // repeats the error of the last step, which was reported
    ::sqlite3_clear_bindings(statement);
    statements_[::sqlite3_sql(statement)].reset(statement);
}

Result<bool> Statement::step() {
    sqlite3* database = ::sqlite3_db_handle(handle_.get());
    if (problem_ != SQLITE_OK) {
        return fail(code_of(problem_, 0), file() + ": " + ::sqlite3_errstr(problem_));
    }
    switch (::sqlite3_step(handle_.get())) {
        case SQLITE_ROW:
            return true;
        case SQLITE_DONE:
            return false;
        default:
            return failure(database);
    }
}

std::int64_t Statement::integer(int column) const {
    return ::sqlite3_column_int64(handle_.get(), column);
}

std::string Statement::text(int column) const {
    const auto* bytes = static_cast<const char*>(::sqlite3_column_blob(handle_.get(), column));
    const int size = ::sqlite3_column_bytes(handle_.get(), column);
    return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(size));
}

std::string Statement::file() const { return file_of(::sqlite3_db_handle(handle_.get())); }

void Statement::bind(std::int64_t value) {
    const int result = ::sqlite3_bind_int64(handle_.get(), ++bound_, value);
    if (problem_ == SQLITE_OK) problem_ = result;
}

void Statement::bind(std::string_view value) {
    // SQLite binds a null pointer as NULL, and an empty view can have one.
    const char* bytes = value.empty() ? "" : value.data();
    const int result = ::sqlite3_bind_text64(handle_.get(), ++bound_, bytes, value.size(),
                                             SQLITE_TRANSIENT, SQLITE_UTF8);
    if (problem_ == SQLITE_OK) problem_ = result;
}

// --- Database

void Database::Close::operator()(sqlite3* database) const {
    ::sqlite3_close_v2(database);  // a move closes it before its idle statements
}

Result<Database> Database::open(const std::string& path) {
    sqlite3* handle = nullptr;
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    const int result = ::sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
    if (handle == nullptr) return fail(Code::exhausted, path + ": out of memory");
    Database database{handle};
    if (result != SQLITE_OK) return failure(handle, path, result);
    ::sqlite3_busy_timeout(handle, kBusyMilliseconds);
    // A manipulated file must not make SQLite do more than read and write tables.
    ::sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    return database;
}

Result<Statement> Database::prepare(std::string_view sql) const {
    const std::string text(sql);
    if (sqlite3_stmt* idle = idle_->take(text)) return Statement{idle, *idle_};
    sqlite3_stmt* handle = nullptr;
    if (::sqlite3_prepare_v2(handle_.get(), text.c_str(), -1, &handle, nullptr) != SQLITE_OK) {
        return failure(handle_.get());
    }
    return Statement{handle, *idle_};
}

Result<> Database::exhaust(Statement& statement) {
    for (;;) {
        const bool more = TRY(statement.step());
        if (!more) return {};
    }
}

Result<std::string> Database::first(Statement& statement) {
    const bool found = TRY(statement.step());
    return found ? statement.text(0) : std::string();
}

Result<> Database::script(const char* sql) const {
    if (::sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
    return failure(handle_.get());
}

bool Database::in_transaction() const { return ::sqlite3_get_autocommit(handle_.get()) == 0; }

bool Database::read_only() const { return ::sqlite3_db_readonly(handle_.get(), "main") == 1; }

Result<> Database::checkpoint() const {
    const int result = ::sqlite3_wal_checkpoint_v2(handle_.get(), "main",
                                                   SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    if (result == SQLITE_OK) return {};
    return failure(handle_.get());
}

std::string Database::image() const {
    struct Free {
        void operator()(unsigned char* bytes) const { ::sqlite3_free(bytes); }
    };
    sqlite3_int64 size = 0;
    const std::unique_ptr<unsigned char, Free> bytes{
        ::sqlite3_serialize(handle_.get(), "main", &size, 0)};
    if (!bytes) return "";
    return {reinterpret_cast<const char*>(bytes.get()), static_cast<std::size_t>(size)};
}

void Database::release_memory() const {
    idle_->clear();
    ::sqlite3_db_release_memory(handle_.get());
}

std::string Database::file() const { return file_of(handle_.get()); }

}  // namespace kubexm::executor::journal::sqlite
