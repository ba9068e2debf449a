#include "daemon/executor/engine/record_store.hpp"

#include <fmt/format.h>

namespace kubexm::executor {

namespace {

constexpr std::uint32_t kAllPlans = 200;  // as many as the journal keeps

Result<Recovered> content_of(Journal& journal) {
    auto entries = TRY(journal.ledger(""));
    auto plans = TRY(journal.history(kAllPlans));
    return Recovered{"", std::move(entries), std::move(plans), {}};
}

}  // namespace

Result<Records*> RecordStore::open() {
    if (suspect_ && users_ > 0) {
        return fail(
            Code::corrupt,
            directory_ + ": damaged; the journal is quarantined when the running plan has ended");
    }
    if (suspect_) records_.reset();
    suspect_ = false;
    if (records_) return &*records_;
    auto journal = Journal::open(directory_, {});
    if (!journal) return quarantine_journal(journal.error());
    // After the journal, whose lock keeps other processes out.
    auto vault = TRY(Vault::open(directory_ + "/" + kVaultDirectory));
    return &records_.emplace(*std::move(journal), std::move(vault));
}

/// A damaged journal is renamed before anything is written to it. Other faults may pass.
std::unexpected<Error> RecordStore::quarantine_journal(const Error& damage) const {
    if (damage.code != Code::corrupt) return std::unexpected(damage);
    auto moved = quarantine(directory_);
    if (!moved && moved.error().code == Code::not_found) return std::unexpected(damage);  // done
    if (!moved) return std::unexpected(moved.error());
    return fail(Code::corrupt,
                fmt::format("{}; quarantined as {}: decide with kubexmctl journal show, restore "
                            "or discard",
                            damage.what, *moved));
}

Result<Recovered> RecordStore::content() {
    auto whole = use([](Records& records) { return content_of(records.journal); });
    if (whole || whole.error().code != Code::corrupt) return whole;
    if (users_ > 0 || open()) return whole;
    auto found = recover(directory_, "");
    if (!found && found.error().code == Code::not_found) return whole;  // nothing is readable
    return found;
}

Result<> RecordStore::decide(Decision decision, std::uint32_t uid, std::int64_t pid) {
    if (open()) {
        return fail(Code::conflict,
                    "the journal is not damaged; restore and discard are not needed");
    }
    if (decision == Decision::discard) return discard(directory_, uid, pid);
    TRY(restore(directory_, uid, pid));
    return {};
}

}  // namespace kubexm::executor
