#include "daemon/executor/engine/undo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/engine/footprint.hpp"
#include "daemon/executor/engine/ledger_steps.hpp"
#include "daemon/executor/steps/steps.hpp"

namespace kubexm::executor {

namespace {

using namespace std::chrono_literals;

constexpr std::array kRetries{1s, 5s, 25s};
constexpr std::size_t kMostRemaining = 500;
constexpr std::size_t kMostReason = 1024;

/// The ledger lists the newest entry first.
std::vector<LedgerEntry> in_undo_order(std::vector<LedgerEntry> entries) {
    std::ranges::stable_partition(entries, std::not_fn(is_undone_last));
    return entries;
}

/// Its undo makes systemd reload, unless another owner keeps the file.
bool restores_unit_file(const LedgerEntry& entry) {
    return entry.target.starts_with("/etc/systemd/") && entry.owners.size() == 1;
}

model::Remaining remaining(std::string object, std::string why, bool blocks_join) {
    if (why.size() > kMostReason) why = why.substr(0, why.rfind(' ', kMostReason)) + " ...";
    return {std::move(object), std::move(why), blocks_join};
}

}  // namespace

Undo::Undo(Run& run) : run_(run) {
    // An earlier process may have undone a part.
    if (auto known = model::remaining_from_json(run.record().stays)) kept_ = *std::move(known);
}

Result<PlanState> Undo::run() {
    for (std::size_t tries = 0;; ++tries) {
        auto entries = TRY(run_.journaled(run_.journal().ledger(run_.record().owner)));
        TRY(run_once(in_undo_order(std::move(entries))));
        if (stopped_) return run_.stopped(stays());
        if (failures_.empty()) return run_.end(PlanState::undone, "", stays());
        if (tries == kRetries.size()) break;
        run_.wait(kRetries.at(tries));
        if (run_.should_stop()) return run_.stopped(stays());
    }
    Error first = failures_.front().error;
    if (failures_.size() > 1) {
        first.what += fmt::format("; {} other objects stay, too", failures_.size() - 1);
    }
    return run_.failed(first, stays());
}

Result<> Undo::run_once(const std::vector<LedgerEntry>& entries) {
    failures_.clear();
    wanted_by_others_.clear();
    for (std::span<const LedgerEntry> left = entries; !left.empty(); left = left.subspan(1)) {
        stopped_ = run_.should_stop();
        if (stopped_) return commit();
        reload_follows_ = std::ranges::any_of(left.subspan(1), restores_unit_file);
        TRY(undo_entry(left.front()));
    }
    TRY(commit());
    return reapply_wanted();
}

Result<> Undo::undo_entry(const LedgerEntry& entry) {
    auto step = model::step_from_json(entry.step);
    if (!step) {
        const Error unreadable{Code::corrupt, "step in the ledger: " + step.error().what};
        note_failure(entry, std::nullopt, unreadable);
        return {};
    }
    if (const LedgerOwner* other = newest_other(entry, run_.record().owner)) {
        return leave_to_others(entry, *other);
    }
    if (const Failure* failed = blocking(*step)) {
        note_failure(entry, *step, {Code::conflict, "waits for " + object_of(failed->entry)});
        return {};
    }
    return restore(entry, *step);
}

Result<> Undo::restore(const LedgerEntry& entry, const model::Step& step) {
    const model::Description about = model::describe(step);
    const bool fits = std::ranges::all_of(undone_steps_, [&](const model::Step& earlier) {
        return may_share_undo_commit(earlier, step);
    });
    if (!fits) TRY(commit());
    run_.begin(index_of(entry), "undo: " + about.text);
    crash_point(model::type_of(step), entry.sequence);
    Context context = run_.context_for(step);
    context.written = digests_in(entry.written);
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
    if (!note->empty()) kept_.push_back(remaining(model::object_of(step), *note, false));
    run_.report(StepState::done, about.unit, {Code::internal, *note});
    undone_.push_back({entry.sequence});
    undone_steps_.push_back(step);
    return {};
}

const Undo::Failure* Undo::blocking(const model::Step& step) const {
    const auto found = std::ranges::find_if(failures_, [&](const Failure& failure) {
        return failure.step && depends(step, *failure.step);
    });
    return found == failures_.end() ? nullptr : &*found;
}

void Undo::note_failure(const LedgerEntry& entry, std::optional<model::Step> step,
                        const Error& error) {
    const auto named = during("undo: " + object_of(entry), error);
    failures_.push_back({entry, std::move(step), named.error()});
}

Result<> Undo::commit() {
    if (undone_.empty()) return {};
    const std::string kept = model::to_json(kept_);
    TRY(run_.journaled(run_.journal().undone(run_.record().id, undone_, kept)));
    undone_.clear();
    undone_steps_.clear();
    return {};
}

/// An entry that is tried again is the same step for whoever follows the plan.
std::uint32_t Undo::index_of(const LedgerEntry& entry) {
    const auto next = static_cast<std::uint32_t>(run_.record().steps.size() + indices_.size());
    return indices_.emplace(entry.sequence, next).first->second;
}

std::vector<model::Remaining> Undo::stays() const {
    std::vector<model::Remaining> list = kept_;
    const bool is_undo = run_.record().purpose == PlanPurpose::release;
    const std::string next =
        is_undo ? fmt::format("; retried hourly, or run kubexmctl undo {}", run_.record().owner)
                : "";
    for (const Failure& failure : failures_) {
        list.push_back(remaining(object_of(failure.entry), failure.error.what + next,
                                 failure.step && harms_next_join(*failure.step)));
    }
    if (list.size() > kMostRemaining) list.resize(kMostRemaining);
    return list;
}

}  // namespace kubexm::executor
