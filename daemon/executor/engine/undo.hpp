#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/executor/engine/run.hpp"
#include "daemon/executor/steps/pre_image.hpp"

namespace kubexm::executor {

/// Undoes the ledger entries of the owner of a plan: the pre-image of an object is restored when
/// its last owner goes; else the step of the newest remaining owner is applied where it differs.
/// Goes on with everything that does not depend on an entry that fails. Private to this module.
/// Worker thread.
class LedgerUndo {
public:
    explicit LedgerUndo(Run& run);

    /// All entries of the owner, with retries.
    Result<PlanState> run();

    /// Some entries, newest first, without retries. An error is the journal's, or a stop.
    Result<> run_once(const std::vector<LedgerEntry>& entries);
    /// The objects that could not be restored so far, and why: those that harm the next join first.
    std::vector<model::Remaining> stays() const;

private:
    /// An entry whose undo failed in this pass, or waits for one that did.
    struct Failure {
        LedgerEntry entry;
        std::optional<model::Step> step;  // none: not readable
        Error error;
    };

    Result<PlanState> stop();
    std::string next_step() const;
    const LedgerOwner* next_owner_of(const LedgerEntry& entry) const;
    bool restores_unit_file(const LedgerEntry& entry) const;
    Result<> undo_entry(const LedgerEntry& entry);
    Result<> leave_to_others(const LedgerEntry& entry, const LedgerOwner& other);
    /// An entry whose object is restored.
    struct Restored {
        LedgerEntry entry;
        model::Step step;
        std::string note;  // parts that could not be restored
    };

    bool should_stop() const;
    Result<> restore(const LedgerEntry& entry, const model::Step& step);
    Result<> make_room_for(const model::Step& step);
    void note_restored(Restored restored);
    void end_reload();
    Result<> reapply(const LedgerEntry& entry);
    Result<> reapply_wanted();
    Result<> may_reapply(const LedgerEntry& entry, const model::Step& step);
    Result<> leave_as_it_is(const LedgerEntry& entry, const model::Step& step, const Error& why);
    Result<StepState> apply_wanted(const LedgerEntry& entry, const model::Step& step);
    const Failure* blocking(const LedgerEntry& entry, const model::Step& step) const;
    void note_failure(const LedgerEntry& entry, std::optional<model::Step> step,
                      const Error& error);
    Result<> commit();
    std::uint32_t index_of(const LedgerEntry& entry);

    Run& run_;
    std::set<std::string> leaving_;       // owners whose undo has failed
    std::vector<std::string> others_;     // paths of the objects of the others
    std::vector<model::Remaining> kept_;  // could not be restored, although undone
    std::vector<Failure> failures_;
    std::vector<LedgerEntry> wanted_by_others_;
    std::vector<UndoneEntry> undone_;        // for the next commit
    std::vector<model::Step> undone_steps_;  // of these
    std::optional<Restored> reloading_;      // undone when systemd has reloaded
    std::chrono::steady_clock::time_point reload_began_;
    std::map<std::int64_t, std::uint32_t> indices_;
    bool reload_follows_ = false;  // an entry after the present one makes systemd reload
    bool stopped_ = false;
};

}  // namespace kubexm::executor
