#pragma once

#include <string>

#include "daemon/base/error.hpp"
#include "daemon/base/state_directory.hpp"
#include "daemon/executor/journal/sqlite.hpp"

namespace kubexm::executor::journal {

/// A copy of a damaged database, with its log: SQLite may change it while it reads, the original
/// stays what it was. Gone when this goes. Private to this module.
class RecoveryCopy {
public:
    explicit RecoveryCopy(const StateDirectory& directory) : directory_(directory) {}
    RecoveryCopy(const RecoveryCopy&) = delete;
    RecoveryCopy& operator=(const RecoveryCopy&) = delete;
    ~RecoveryCopy() { remove(); }

    Result<> make(const std::string& file);
    Result<sqlite::Database> open() const;
    /// Puts the first page of an empty journal over that of the copy: with it go the definitions,
    /// and these and where their tables begin are the same in every journal. Whatever is read
    /// wrong through it has no checksum that fits.
    Result<> replace_first_page() const;

private:
    void remove() const;
    const StateDirectory& directory_;
};

}  // namespace kubexm::executor::journal
