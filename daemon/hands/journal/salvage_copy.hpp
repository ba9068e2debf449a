#pragma once

#include <string>

#include "daemon/base/error.hpp"
#include "daemon/hands/journal/directory.hpp"
#include "daemon/hands/journal/sqlite.hpp"

namespace kubexm::hands::journal {

/// A copy of a damaged database, with its log: SQLite may change it while it reads, the original
/// stays what it was. Gone when this goes. Private to this room.
class SalvageCopy {
public:
    explicit SalvageCopy(const Directory& directory) : directory_(directory) {}
    SalvageCopy(const SalvageCopy&) = delete;
    SalvageCopy& operator=(const SalvageCopy&) = delete;
    ~SalvageCopy() { remove(); }

    Result<> make(const std::string& file);
    Result<sqlite::Database> open() const;
    /// Puts the first page of an empty journal over that of the copy: with it go the definitions,
    /// and these and where their tables begin are the same in every journal. Whatever is read
    /// wrong through it has no checksum that fits.
    Result<> replace_first_page() const;

private:
    void remove() const;
    const Directory& directory_;
};

}  // namespace kubexm::hands::journal
