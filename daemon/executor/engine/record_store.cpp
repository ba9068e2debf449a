#include "daemon/executor/engine/record_store.hpp"

#include <fmt/format.h>

namespace kubexm::executor {

namespace {

constexpr std::uint32_t kAllPlans = 200;  // as many as the journal keeps

Result<Recovered> content_of(Journal& journal) {
    auto entries = journal.ledger("");
    if (!entries) return std::unexpected(entries.error());
    auto plans = journal.history(kAllPlans);
    if (!plans) return std::unexpected(plans.error());
    return Recovered{"", *std::move(entries), *std::move(plans), {}};
}

}  // namespace

Result<Records*> RecordStore::open() {
    if (suspect_ && users_ > 0) {
        return fail(Code::corrupt,
                    directory_ + ": damage was found, and is looked at when the plan has ended");
    }
    if (suspect_) records_.reset();
    suspect_ = false;
    if (records_) return &*records_;
    auto journal = Journal::open(directory_, {});
    if (!journal) return quarantine_journal(journal.error());
    // After the journal, whose lock says that no other process writes here.
    auto vault = Vault::open(directory_ + "/" + kVaultDirectory);
    if (!vault) return std::unexpected(vault.error());
    return &records_.emplace(*std::move(journal), *std::move(vault));
}

/// A damaged journal gets another name before anybody can write to it; other faults may pass.
std::unexpected<Error> RecordStore::quarantine_journal(const Error& damage) const {
    if (damage.code != Code::corrupt) return std::unexpected(damage);
    auto moved = quarantine(directory_);
    if (!moved && moved.error().code == Code::not_found) return std::unexpected(damage);  // it was
    if (!moved) return std::unexpected(moved.error());
    return fail(Code::corrupt,
                fmt::format("{}; it is set aside as {}: decide with kubexmctl journal show, "
                            "restore or discard",
                            damage.what, *moved));
}

Result<Recovered> RecordStore::look() {
    auto content = use([](Records& records) { return content_of(records.journal); });
    if (content || content.error().code != Code::corrupt) return content;
    if (users_ > 0 || open()) return content;
    auto found = recover(directory_, "");
    if (!found && found.error().code == Code::not_found) return content;  // it is lost altogether
    return found;
}

Result<> RecordStore::decide(Decision decision, std::uint32_t uid, std::int64_t pid) {
    if (open()) return fail(Code::conflict, "the journal is sound: nothing is to decide");
    if (decision == Decision::discard) return discard(directory_, uid, pid);
    auto restored = restore(directory_, uid, pid);
    if (!restored) return std::unexpected(restored.error());
    return {};
}

}  // namespace kubexm::executor
