#include "daemon/executor/journal/recovery_copy.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include "daemon/base/try.hpp"
#include "daemon/executor/journal/database.hpp"
#include "daemon/executor/journal/schema.hpp"

namespace kubexm::executor::journal {

namespace {

constexpr const char* kCopy = "journal.db.recover";
constexpr std::size_t kPageSize = 4096;       // SQLite's default since 2016
constexpr std::size_t kPageCountOffset = 28;  // in the header of the first page, big-endian

Result<> copy(const StateDirectory& directory, const std::string& from, const std::string& to) {
    std::error_code error;
    std::filesystem::copy_file(directory.path_of(from), directory.path_of(to), error);
    if (error) return from_errno("copy", directory.path_of(from), error.value());
    return {};
}

/// The first page of an empty journal, for a file of `pages` pages.
Result<std::string> first_page(std::uint64_t pages) {
    const auto blank = TRY(sqlite::Database::open(":memory:"));
    TRY(migrate(blank, 0, migrations()));
    std::string page = blank.image().substr(0, kPageSize);
    for (std::size_t byte = 0; byte < 4; ++byte) {
        page[kPageCountOffset + byte] = static_cast<char>(pages >> (8 * (3 - byte)) & 0xffU);
    }
    return page;
}

}  // namespace

void RecoveryCopy::remove() const {
    std::ignore = directory_.remove(kCopy);
    for (const char* suffix : kSideFiles) {
        std::ignore = directory_.remove(std::string(kCopy) + suffix);
    }
}

Result<> RecoveryCopy::make(const std::string& file) {
    remove();
    for (const char* suffix : kSideFiles) {
        const bool exists = TRY(directory_.has(file + suffix));
        if (exists) TRY(copy(directory_, file + suffix, std::string(kCopy) + suffix));
    }
    return copy(directory_, file, kCopy);
}

Result<sqlite::Database> RecoveryCopy::open() const {
    auto database = TRY(sqlite::Database::open(directory_.path_of(kCopy)));
    TRY(database.script("PRAGMA locking_mode = EXCLUSIVE"));  // no -shm file, see database.cpp
    return database;
}

Result<> RecoveryCopy::replace_first_page() const {
    const std::string path = directory_.path_of(kCopy);
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    if (error) return from_errno("stat", path, error.value());
    const std::string page = TRY(first_page(size / kPageSize));
    const Fd fd{::openat(directory_.fd(), kCopy, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)};
    if (!fd) return from_errno("open", path);
    const ssize_t written = ::pwrite(fd.get(), page.data(), page.size(), 0);
    if (written < 0) return from_errno("write", path);
    if (std::cmp_equal(written, page.size())) return {};
    return from_errno("write", path, ENOSPC);
}

}  // namespace kubexm::executor::journal
