#include "daemon/executor/engine/supersede.hpp"

#include <algorithm>
#include <set>

#include "daemon/base/try.hpp"
#include "daemon/executor/engine/undo.hpp"

namespace kubexm::executor {

namespace {

constexpr std::size_t kGenerations = 2;  // the present one and the previous one

std::string series_of(const model::Step& step) {
    const auto* file = std::get_if<model::SecretFile>(&step);
    return file == nullptr ? "" : file->series.value_or("");
}

std::set<std::string> series_in(const model::Plan& plan) {
    std::set<std::string> all;
    for (const model::Step& step : plan.steps) all.insert(series_of(step));
    all.erase("");
    return all;
}

/// The owner's claim to an object: its step and plan.
const LedgerOwner& claim_of(const LedgerEntry& entry, const std::string& owner) {
    return *std::ranges::find(entry.owners, owner, &LedgerOwner::owner);
}

std::string series_of(const LedgerEntry& entry, const std::string& owner) {
    const auto step = model::step_from_json(claim_of(entry, owner).step);
    return step ? series_of(*step) : "";
}

/// Newest first.
std::vector<LedgerEntry> generations(const std::vector<LedgerEntry>& entries,
                                     const std::string& owner, const std::string& series) {
    std::vector<LedgerEntry> found;
    std::ranges::copy_if(entries, std::back_inserter(found), [&](const LedgerEntry& entry) {
        return series_of(entry, owner) == series;
    });
    std::ranges::sort(found, std::greater(),
                      [&](const LedgerEntry& entry) { return claim_of(entry, owner).sequence; });
    return found;
}

}  // namespace

Result<std::vector<model::Remaining>> supersede(Run& run, const model::Plan& plan) {
    const auto all = series_in(plan);
    std::vector<LedgerEntry> old;
    const auto entries = TRY(run.journaled(run.journal().ledger(plan.owner)));
    for (const std::string& series : all) {
        const auto found = generations(entries, plan.owner, series);
        if (found.size() <= kGenerations) continue;
        old.insert(old.end(), found.begin() + kGenerations, found.end());
    }
    LedgerUndo undo(run);
    TRY(undo.run_once(old));
    return undo.stays();
}

}  // namespace kubexm::executor
