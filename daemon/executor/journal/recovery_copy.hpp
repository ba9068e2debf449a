#pragma once

#include <string>

#include "daemon/base/error.hpp"
#include "daemon/base/state_directory.hpp"
#include "daemon/executor/journal/sqlite.hpp"

namespace kubexm::executor::journal {

/// A temporary copy of a damaged database and its log: SQLite can change a database while it reads,
/// and the original must not change. Private to this module.
class RecoveryCopy {
public:
    explicit RecoveryCopy(const StateDirectory& directory) : directory_(directory) {}
    RecoveryCopy(const RecoveryCopy&) = delete;
    RecoveryCopy& operator=(const RecoveryCopy&) = delete;
    ~RecoveryCopy() { remove(); }

    Result<> make(const std::string& file);
    Result<sqlite::Database> open() const;
    /// Replaces the first page, which has the schema, with that of an empty journal: the schema and
    /// the root pages of the tables are the same in every journal. A row that is read from a wrong
    /// page does not match its checksum.
    Result<> replace_first_page() const;

private:
    void remove() const;
    const StateDirectory& directory_;
};

}  // namespace kubexm::executor::journal
