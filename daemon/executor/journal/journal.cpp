#include "daemon/executor/journal/journal.hpp"

#include <fmt/format.h>

#include <utility>

#include "daemon/base/try.hpp"
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

/// A vault without its journal: a new journal would remove the content of the vault.
Result<> check_not_lost(const StateDirectory& directory) {
    const bool content = TRY(has_content(directory));
    if (!content) return {};
    return fail(Code::corrupt,
                fmt::format("{} is missing, although {} has content of files; restore the file "
                            "and restart kubexm-executor, or run kubexmctl journal discard",
                            directory.path_of(kDatabaseFile), directory.path_of(kVaultDirectory)));
}

Result<> create_if_new(const StateDirectory& directory) {
    const bool exists = TRY(directory.has(kDatabaseFile));
    if (exists) return {};
    if (const auto file = TRY(waiting_file(directory))) {
        return fail(Code::corrupt, directory.path_of(*file) +
                                       ": the journal was damaged and quarantined; decide with "
                                       "kubexmctl journal show, restore or discard");
    }
    TRY(check_not_lost(directory));
    return create_database(directory, [](const sqlite::Database&) { return Result<>(); });
}

}  // namespace

Journal::Journal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;
Journal::~Journal() = default;

Result<Journal> Journal::open(const std::string& directory, const Limits& limits) {
    const auto state = TRY(StateDirectory::open(directory));
    auto lock = TRY(ProcessLock::take(state, kLockFile));
    TRY(create_if_new(state));
    auto database = TRY(open_database(state));
    return Journal{std::make_unique<Impl>(Impl{std::move(lock), std::move(database), limits})};
}

Result<> Journal::verify() {
    impl_->database.release_memory();  // read the file, not the cache
    TRY(check_schema(impl_->database, migrations()));
    TRY(verify_structure(impl_->database));
    return verify_records(impl_->database);
}

Result<> Journal::audit(std::uint32_t uid, std::int64_t pid, std::string_view event,
                        std::string_view detail) {
    return commit(impl_->database, [&](const sqlite::Database& database) {
        return append_audit(database, {uid, pid, event, detail}, impl_->limits);
    });
}

Result<Journal::Offers> Journal::offers(std::uint32_t uid, std::int64_t since) {
    constexpr std::int64_t kNewest = 4000;
    auto statement = TRY(impl_->database.query(
        "SELECT count(*), coalesce(min(at), 0) FROM audit WHERE sequence > "
        "(SELECT last FROM audit_ends) - ? AND uid = ? AND event = ? AND at > ?",
        kNewest, std::int64_t{uid}, kPlanOffered, since));
    TRY(statement.step());
    return Offers{statement.integer(0), statement.integer(1)};
}

Result<std::vector<AuditRecord>> Journal::audit_trail(std::uint32_t limit) {
    return newest_audit(impl_->database, limit);
}

}  // namespace kubexm::executor
