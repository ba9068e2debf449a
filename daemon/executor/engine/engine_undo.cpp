#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "daemon/base/try.hpp"
#include "daemon/executor/engine/engine.hpp"
#include "daemon/executor/engine/ledger_steps.hpp"
#include "daemon/executor/engine/plan_records.hpp"
#include "daemon/executor/engine/policy.hpp"
#include "daemon/executor/engine/quota.hpp"
#include "daemon/model/remaining.hpp"

// Undo: gives the objects of an owner back.

namespace kubexm::executor {

namespace {

/// An undo of nothing gives nothing back: it counts like any other plan.
Result<> check_undo_quota(Records& records, const std::string& owner, const Caller& caller) {
    const auto entries = TRY(records.journal.ledger(owner));
    if (caller.uid == 0 || !entries.empty()) return {};
    const Usage usage = TRY(usage_of(records, caller.uid));
    return within({}, usage, {}, std::time(nullptr));
}

model::Plan undo_plan(const std::string& id, const std::string& owner) {
    return {.id = id, .owner = owner, .steps = {}, .purpose = PlanPurpose::release};
}

/// The objects that earlier undos could not restore and that no undo tries again: the ledger has
/// them no more. A newer plan of the owner begins another life.
Result<std::string> kept_before(Journal& journal, const std::string& owner) {
    const auto outcomes = TRY(journal.outcomes());
    const auto newest = std::ranges::find(outcomes, owner, &OutcomeRecord::owner);
    if (newest == outcomes.end() || newest->purpose != PlanPurpose::release) return std::string();
    auto stays = model::stays_from_json(newest->stays).value_or(model::Stays()).named;
    const auto entries = TRY(journal.ledger(owner));
    std::erase_if(stays, [&](const model::Remaining& each) {
        return std::ranges::find(entries, each.object, object_of) != entries.end();
    });
    return model::to_json(stays);
}

Result<PlanRecord> undo_record(Journal& journal, const std::string& id, const std::string& owner,
                               const Caller& caller) {
    PlanRecord record = record_of(undo_plan(id, owner), caller);
    record.stays = TRY(kept_before(journal, owner));
    return record;
}

}  // namespace

Result<> Engine::undo_acceptable(const std::string& id, const std::string& owner,
                                 const Caller& caller) {
    return store_.use([&](Records& records) -> Result<> {
        if (owner.empty()) {
            return refuse(caller, {Code::invalid, "undo: owner must not be empty"});
        }
        auto good = may_change_objects_of(owner, caller.uid);
        if (good) good = can_be_read_back(undo_plan(id, owner));
        if (good) good = records.journal.is_new(id);
        if (good) good = check_undo_quota(records, owner, caller);
        if (!good) return refuse(caller, good.error());
        return {};
    });
}

Result<PlanRecord> Engine::accept_undo(const std::string& id, const std::string& owner,
                                       const Caller& caller) {
    return with_reserve([&]() -> Result<PlanRecord> {
        TRY(undo_acceptable(id, owner, caller));
        return store_.use([&](Records& records) -> Result<PlanRecord> {
            auto record = TRY(undo_record(records.journal, id, owner, caller));
            return begin(records.journal, std::move(record), 0, caller);
        });
    });
}

Result<std::vector<OutcomeRecord>> Engine::unfinished_undos() {
    const auto counts = TRY(objects());
    auto failed = TRY(store_.use([](Records& records) { return failed_undos(records.journal); }));
    std::erase_if(failed, [&](const OutcomeRecord& undo) { return !counts.contains(undo.owner); });
    return failed;
}

Result<PlanRecord> Engine::undo_again(const std::string& id, const std::string& owner,
                                      const Caller& caller) {
    const auto unfinished = TRY(unfinished_undos());
    const auto failed = std::ranges::find(unfinished, owner, &OutcomeRecord::owner);
    if (failed == unfinished.end()) {
        return fail(Code::not_found, fmt::format("owner {}: no undo is unfinished", owner));
    }
    return store_.use([&](Records& records) -> Result<PlanRecord> {
        PlanRecord record = TRY(undo_record(records.journal, id, owner, caller));
        record.uid = failed->uid;
        return begin(records.journal, std::move(record), 0, caller);
    });
}

}  // namespace kubexm::executor
