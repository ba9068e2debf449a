#include "daemon/executor/journal/journal.hpp"

#include <fmt/format.h>

#include <utility>

#include "daemon/executor/journal/audit.hpp"
#include "daemon/executor/journal/database.hpp"
#include "daemon/executor/journal/impl.hpp"
#include "daemon/executor/journal/integrity.hpp"
#include "daemon/executor/journal/preserved_content.hpp"
#include "daemon/executor/journal/quarantine.hpp"
#include "daemon/executor/journal/rows.hpp"
#include "daemon/executor/journal/schema.hpp"
#include "daemon/executor/journal/vault.hpp"

namespace kubexm::executor {

using namespace journal;

namespace {

/// A journal that somebody removed takes the meaning of what is in the vault along. A fresh one
/// would let go of it.
Result<> not_lost(const StateDirectory& directory) {
    auto content = has_content(directory);
    if (!content) return std::unexpected(content.error());
    if (!*content) return {};
    return fail(Code::corrupt,
                fmt::format("{} is missing, but {} has content of files that it named: put it back "
                            "and restart kubexm-executor, or begin anew with kubexmctl journal "
                            "discard",
                            directory.path_of(kDatabaseFile), directory.path_of(kVaultDirectory)));
}

/// A fresh journal, unless there was one that somebody has to decide about.
Result<> create_if_new(const StateDirectory& directory) {
    auto there = directory.has(kDatabaseFile);
    if (!there) return std::unexpected(there.error());
    if (*there) return {};
    auto waiting = waiting_file(directory);
    if (!waiting) return std::unexpected(waiting.error());
    if (const std::optional<std::string>& file = *waiting) {
        return fail(Code::corrupt, directory.path_of(*file) +
                                       ": the journal was damaged and set aside; decide with "
                                       "kubexmctl journal show, restore or discard");
    }
    if (auto good = not_lost(directory); !good) return good;
    return create_database(directory, [](const sqlite::Database&) { return Result<>(); });
}

}  // namespace

Journal::Journal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;
Journal::~Journal() = default;

Result<Journal> Journal::open(const std::string& directory, const Limits& limits) {
    auto place = StateDirectory::open(directory);
    if (!place) return std::unexpected(place.error());
    auto lock = ProcessLock::take(*place, kLockFile);
    if (!lock) return std::unexpected(lock.error());
    if (auto made = create_if_new(*place); !made) return std::unexpected(made.error());
    auto database = open_database(*place);
    if (!database) return std::unexpected(database.error());
    return Journal{std::make_unique<Impl>(Impl{*std::move(lock), *std::move(database), limits})};
}

Result<> Journal::verify() {
    impl_->database.release_memory();  // the file is asked, not what we remember of it
    auto version = check_schema(impl_->database, migrations());
    if (!version) return std::unexpected(version.error());
    if (auto good = verify_structure(impl_->database); !good) return good;
    return verify_records(impl_->database);
}

Result<std::optional<LedgerEntry>> Journal::ledger_entry(std::string_view type,
                                                         std::string_view target) {
    return find<LedgerEntry>(impl_->database, "WHERE type = ? AND target = ?", type, target);
}

Result<std::vector<LedgerEntry>> Journal::ledger(std::string_view owner) {
    return find_all<LedgerEntry>(impl_->database,
                                 "WHERE ? = '' OR owner = ? ORDER BY sequence DESC", owner, owner);
}

Result<> Journal::taken_back(std::int64_t sequence) {
    return commit(impl_->database, [&](const sqlite::Database& database) -> Result<> {
        auto entry = find<LedgerEntry>(database, "WHERE sequence = ?", sequence);
        if (!entry) return std::unexpected(entry.error());
        if (!entry->has_value()) {
            return fail(Code::not_found,
                        fmt::format("{}: the ledger has no entry {}", database.file(), sequence));
        }
        return database.run("DELETE FROM ledger WHERE sequence = ?", sequence);
    });
}

Result<> Journal::audit(std::uint32_t uid, std::int64_t pid, std::string_view event,
                        std::string_view detail) {
    return commit(impl_->database, [&](const sqlite::Database& database) {
        return append_audit(database, {uid, pid, event, detail}, impl_->limits.audit_records);
    });
}

Result<std::vector<AuditRecord>> Journal::audit_trail(std::uint32_t limit) {
    return newest_audit(impl_->database, limit);
}

}  // namespace kubexm::executor
