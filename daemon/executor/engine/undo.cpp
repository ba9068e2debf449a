#include "daemon/executor/engine/undo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <span>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/engine/footprint.hpp"
#include "daemon/executor/engine/ledger_steps.hpp"
#include "daemon/executor/engine/next_join.hpp"
#include "daemon/executor/steps/steps.hpp"

namespace kubexm::executor {

namespace {

using namespace std::chrono_literals;

constexpr std::array kRetries{1s, 5s, 25s};
constexpr auto kQueriesWait = 1s;  // for a reload, most of which take less
constexpr std::size_t kMostReason = 1024;

/// The ledger lists the newest entry first.
std::vector<LedgerEntry> in_undo_order(std::vector<LedgerEntry> entries) {
    std::ranges::stable_partition(entries, std::not_fn(is_undone_last));
    return entries;
}

model::Remaining remaining(std::string object, std::string why, bool blocks_join) {
    if (why.size() > kMostReason) why = why.substr(0, why.rfind(' ', kMostReason)) + " ...";
    return {std::move(object), std::move(why), blocks_join};
}

}  // namespace

LedgerUndo::LedgerUndo(Run& run) : run_(run) {
    // An earlier undo, or an earlier process, may have undone a part.
    if (auto known = model::stays_from_json(run.record().stays)) kept_ = std::move(known->named);
}

Result<PlanState> LedgerUndo::run() {
    for (std::size_t tries = 0;; ++tries) {
        auto entries = TRY(run_.journaled(run_.journal().ledger(run_.record().owner)));
        TRY(run_once(in_undo_order(std::move(entries))));
        if (stopped_) return stop();
        if (failures_.empty()) return run_.end(PlanState::undone, "", stays());
        if (tries == kRetries.size()) break;
        run_.wait(kRetries.at(tries));
        if (run_.should_stop()) return stop();
    }
    Error first = failures_.front().error;
    if (failures_.size() > 1) {
        first.what += fmt::format("; {} other objects stay, too", failures_.size() - 1);
    }
    return run_.failed(first, stays());
}

/// Entries that the undo has not reached are listed as staying, too.
Result<PlanState> LedgerUndo::stop() {
    stopped_ = true;
    const auto entries = TRY(run_.journaled(run_.journal().ledger(run_.record().owner)));
    for (const LedgerEntry& entry : in_undo_order(entries)) {
        const bool is_known = std::ranges::any_of(failures_, [&](const Failure& failure) {
            return failure.entry.sequence == entry.sequence;
        });
        if (is_known) continue;
        auto step = model::step_from_json(entry.step);
        note_failure(entry, step ? std::optional(*std::move(step)) : std::nullopt,
                     {Code::cancelled, "stopped on request"});
    }
    return run_.stopped(stays());
}

/// For a person.
std::string LedgerUndo::next_step() const {
    if (run_.record().purpose != PlanPurpose::release) return "";
    return fmt::format("; {}run kubexmctl undo {}", stopped_ ? "" : "retried hourly, or ",
                       run_.record().owner);
}

Result<> LedgerUndo::run_once(const std::vector<LedgerEntry>& entries) {
    leaving_ = TRY(run_.journaled(leaving_owners(run_.journal())));
    const auto ledger = TRY(run_.journaled(run_.journal().ledger("")));
    others_ = paths_of_others(ledger, run_.record().owner, leaving_);
    failures_.clear();
    wanted_by_others_.clear();
    for (std::span<const LedgerEntry> left = entries; !left.empty(); left = left.subspan(1)) {
        stopped_ = should_stop();
        if (stopped_) break;
        reload_follows_ = std::ranges::any_of(left.subspan(1), [this](const LedgerEntry& later) {
            return restores_unit_file(later);
        });
        TRY(undo_entry(left.front()));
    }
    end_reload();
    TRY(commit());
    return stopped_ ? Result<>() : reapply_wanted();
}

/// The newest other owner who wants the object. Those who have left it want nothing of it: their
/// own undo goes on.
const LedgerOwner* LedgerUndo::next_owner_of(const LedgerEntry& entry) const {
    const auto others = std::views::reverse(entry.owners);
    const auto newest = std::ranges::find_if(others, [&](const LedgerOwner& other) {
        return other.owner != run_.record().owner && !leaving_.contains(other.owner);
    });
    return newest == others.end() ? nullptr : &*newest;
}

/// Its undo makes systemd reload, unless another owner keeps the file.
bool LedgerUndo::restores_unit_file(const LedgerEntry& entry) const {
    return entry.target.starts_with("/etc/systemd/") && next_owner_of(entry) == nullptr;
}

Result<> LedgerUndo::undo_entry(const LedgerEntry& entry) {
    auto step = model::step_from_json(entry.step);
    if (!step) {
        const Error unreadable{Code::corrupt, "step in the ledger: " + step.error().what};
        note_failure(entry, std::nullopt, unreadable);
        return {};
    }
    if (const LedgerOwner* other = next_owner_of(entry)) return leave_to_others(entry, *other);
    if (reloading_ && !may_undo_during_reload(reloading_->step, *step)) end_reload();
    if (const Failure* failed = blocking(entry, *step)) {
        note_failure(entry, *step, {Code::conflict, "waits for " + object_of(failed->entry)});
        return {};
    }
    return restore(entry, *step);
}

Result<> LedgerUndo::make_room_for(const model::Step& step) {
    const bool fits = std::ranges::all_of(undone_steps_, [&](const model::Step& earlier) {
        return may_share_undo_commit(earlier, step);
    });
    return fits ? Result<>() : commit();
}

Result<> LedgerUndo::restore(const LedgerEntry& entry, const model::Step& step) {
    TRY(make_room_for(step));
    const model::Description about = model::describe(step);
    run_.begin(index_of(entry), "undo: " + about.text);
    crash_point(model::type_of(step), entry.sequence);
    Context context = run_.context_for(step);
    context.written = digests_in(entry.written);
    context.others = others_;
    context.reload_follows = reload_follows_;
    auto image = image_from_json(entry.pre_image);
    auto applied = applied_step(entry);
    if (applied) context.previous = *std::move(applied);
    auto note = image ? undo(context, step, *image) : std::unexpected(image.error());
    if (!note) {
        run_.report(StepState::failed, about.unit, note.error());
        note_failure(entry, step, note.error());
        return {};
    }
    Restored restored{entry, step, *std::move(note)};
    if (context.reloading) {
        reloading_ = std::move(restored);
        reload_began_ = std::chrono::steady_clock::now();
    } else {
        note_restored(std::move(restored));
    }
    return {};
}

void LedgerUndo::note_restored(Restored restored) {
    const auto& [entry, step, note] = restored;
    if (!note.empty()) kept_.push_back(remaining(model::object_of(step), note, false));
    run_.report(StepState::done, model::describe(step).unit, {Code::internal, note});
    undone_.push_back({entry.sequence});
    undone_steps_.push_back(std::move(restored.step));
}

/// Collects the reload that the undo of a unit file has begun, if any.
void LedgerUndo::end_reload() {
    auto restored = std::exchange(reloading_, {});
    if (!restored) return;
    Context context = run_.context_for(restored->step);
    run_.begin(index_of(restored->entry), "undo: " + model::text_of(restored->step));
    auto done = context.systemd.end_reload(context.deadline);
    if (done) return note_restored(*std::move(restored));
    run_.report(StepState::failed, "", done.error());
    note_failure(restored->entry, restored->step, done.error());
}

/// Queries of others would wait for systemd, and the undo with them.
bool LedgerUndo::should_stop() const {
    const auto waited = std::chrono::steady_clock::now() - reload_began_;
    if (reloading_ && waited < kQueriesWait) return run_.stop_requested();
    return run_.should_stop();
}

/// An object that is restored below a claim before the claim's undo would be removed by it, as new.
const LedgerUndo::Failure* LedgerUndo::blocking(const LedgerEntry& entry,
                                                const model::Step& step) const {
    const bool returns = !was_created(entry);
    const auto found = std::ranges::find_if(failures_, [&](const Failure& failure) {
        if (!failure.step) return false;
        return depends(step, *failure.step) || (returns && is_claimed(step, *failure.step));
    });
    return found == failures_.end() ? nullptr : &*found;
}

void LedgerUndo::note_failure(const LedgerEntry& entry, std::optional<model::Step> step,
                              const Error& error) {
    const auto named = during("undo: " + object_of(entry), error);
    failures_.push_back({entry, std::move(step), named.error()});
}

Result<> LedgerUndo::commit() {
    if (undone_.empty()) return {};
    const std::string kept = model::to_json(kept_);
    TRY(run_.journaled(run_.journal().undone(run_.record().id, undone_, kept)));
    undone_.clear();
    undone_steps_.clear();
    return {};
}

/// An entry that is tried again keeps its step number in the events of the plan.
std::uint32_t LedgerUndo::index_of(const LedgerEntry& entry) {
    const auto next = static_cast<std::uint32_t>(run_.record().steps.size() + indices_.size());
    return indices_.emplace(entry.sequence, next).first->second;
}

std::vector<model::Remaining> LedgerUndo::stays() const {
    std::vector<model::Remaining> list = kept_;
    for (const Failure& failure : failures_) {
        list.push_back(remaining(object_of(failure.entry), failure.error.what + next_step(),
                                 !failure.step || harms_next_join(*failure.step)));
    }
    std::ranges::stable_partition(list, &model::Remaining::blocks_join);
    return list;
}

}  // namespace kubexm::executor
