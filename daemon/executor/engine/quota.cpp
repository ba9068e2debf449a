#include "daemon/executor/engine/quota.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "daemon/base/refusal.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::executor {

namespace {

constexpr std::int64_t kOfferSeconds = 3600;

Result<> fits(const char* what, std::int64_t most, std::int64_t used, std::int64_t more) {
    if (more <= 0 || used + more <= most) return {};
    return refusal(
        "quota", Code::exhausted,
        fmt::format("quota of {}: at most {}, used {}, needed {}; undo an owner that is not needed "
                    "(kubexmctl undo OWNER), or apply the plan as root",
                    what, most, used, more));
}

/// To the digest of what the step writes there. Components are root's: the trusted list names them.
void add_files(std::map<std::string, std::string>& files, const model::Step& step) {
    if (model::traits_of(step).content.may_be_installed) return;
    for (const std::string& digest : model::describe(step).digests) {
        files[model::path_of(step)] = digest;
    }
}

std::int64_t bytes_of(const Vault& vault, const std::map<std::string, std::string>& files) {
    std::int64_t sum = 0;
    for (const auto& [path, digest] : files) sum += vault.size(digest);
    return sum;
}

}  // namespace

Result<> within(const Quota& quota, const Usage& usage, const Demand& demand, std::int64_t now) {
    TRY(fits("objects in the ledger", quota.entries, usage.entries, demand.entries));
    TRY(fits("owners", quota.owners, usage.owners, demand.owners));
    TRY(within_vault(quota, usage.vault_bytes, usage.vault_bytes + demand.vault_bytes));
    if (usage.offers < quota.offers) return {};
    const std::int64_t wait =
        std::clamp<std::int64_t>(usage.first_offer_at + kOfferSeconds - now, 1, kOfferSeconds);
    return refusal(
        "quota", Code::exhausted,
        fmt::format("quota of plans an hour: at most {}, used {}; free again in {} minutes",
                    quota.offers, usage.offers, (wait + 59) / 60));
}

Result<> within_vault(const Quota& quota, std::int64_t before, std::int64_t after) {
    return fits("bytes in the vault", quota.vault_bytes, before, after - before);
}

Result<> within_files(const Quota& quota, std::int64_t before, std::int64_t after) {
    return fits("bytes in files", quota.file_bytes, before, after - before);
}

Result<FileBytes> file_bytes(Records& records, const model::Plan& plan) {
    const auto entries = TRY(records.journal.ledger(""));
    std::map<std::string, std::string> files;
    for (const LedgerEntry& entry : entries) {
        if (const auto step = model::step_from_json(entry.step)) add_files(files, *step);
    }
    const std::int64_t before = bytes_of(records.vault, files);
    for (const model::Step& step : plan.steps) add_files(files, step);
    return FileBytes{before, bytes_of(records.vault, files)};
}

std::int64_t new_objects(const model::Plan& plan, const std::vector<LedgerEntry>& entries) {
    std::set<std::pair<std::string, std::string>> known;
    for (const LedgerEntry& entry : entries) known.emplace(entry.type, entry.target);
    const std::size_t before = known.size();
    for (const model::Step& step : plan.steps) known.emplace(type_of(step), target_of(step));
    return static_cast<std::int64_t>(known.size() - before);
}

Result<Usage> usage_of(Records& records, std::uint32_t uid) {
    const auto size = TRY(records.journal.size());
    const auto offers = TRY(records.journal.offers(uid, std::time(nullptr) - kOfferSeconds));
    const std::int64_t bytes = TRY(records.vault.bytes());
    return Usage{.entries = size.entries,
                 .owners = size.owners,
                 .vault_bytes = bytes,
                 .offers = offers.count,
                 .first_offer_at = offers.first_at};
}

Result<Demand> demand_of(Records& records, const model::Plan& plan,
                         std::span<const Content> contents) {
    const auto entries = TRY(records.journal.ledger(plan.owner));
    Demand demand{.entries = new_objects(plan, entries), .owners = entries.empty() ? 1 : 0};
    for (const Content& content : contents) {
        struct stat file{};
        const bool is_new = !records.vault.has(content.digest);
        if (is_new && ::fstat(content.bytes.get(), &file) == 0) demand.vault_bytes += file.st_size;
    }
    return demand;
}

}  // namespace kubexm::executor
