#include "daemon/executor/engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <set>
#include <tuple>

#include "daemon/base/try.hpp"
#include "daemon/executor/engine/ledger_steps.hpp"
#include "daemon/executor/engine/policy.hpp"
#include "daemon/executor/engine/quota.hpp"
#include "daemon/executor/engine/retry_limit.hpp"

namespace kubexm::executor {

namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kMostHistory = 200;
constexpr auto kReadDeadline = 20s;

/// The contents of a refused plan must not fill the disk.
void drop_refused_contents(Records& records) {
    const auto running = records.journal.running();
    if (!running || *running) return;  // needs contents that are not in the ledger yet
    std::ignore = drop_unused_contents(records.journal, records.vault);
}

Result<> may_retry(Journal& journal, const model::Plan& plan, const Caller& caller) {
    if (caller.uid == 0) return {};
    return check_retry_limit(journal, model::hash_of(plan));
}

Result<> check_quota(Records& records, const model::Plan& plan, std::span<const Content> contents,
                     const Caller& caller) {
    if (caller.uid == 0) return {};
    const Usage usage = TRY(usage_of(records, caller.uid));
    return within({}, usage, TRY(demand_of(records, plan, contents)), std::time(nullptr));
}

/// An undo of nothing gives nothing back: it counts like any other plan.
Result<> check_undo_quota(Records& records, const std::string& owner, const Caller& caller) {
    const auto entries = TRY(records.journal.ledger(owner));
    if (caller.uid == 0 || !entries.empty()) return {};
    const Usage usage = TRY(usage_of(records, caller.uid));
    return within({}, usage, {}, std::time(nullptr));
}

/// Whether something was done for the owner before.
Result<bool> is_known(Journal& journal, const std::string& owner) {
    const auto outcomes = TRY(journal.outcomes());
    return std::ranges::find(outcomes, owner, &OutcomeRecord::owner) != outcomes.end();
}

model::Plan undo_plan(const std::string& id, const std::string& owner) {
    return {.id = id, .owner = owner, .steps = {}, .purpose = PlanPurpose::release};
}

PlanRecord record_of(const model::Plan& plan, const Caller& caller) {
    const std::string hash = model::hash_of(plan);
    return {.id = plan.id,
            .hash = hash,
            .owner = plan.owner,
            .purpose = plan.purpose,
            .wanted = plan.wanted.empty() ? hash : plan.wanted,
            .uid = caller.uid,
            .document = model::to_json(plan)};
}

/// An undo has no steps of its own, and a repair none but applied ones: the ledger has them.
Result<> check_purpose(const model::Plan& plan) {
    if (plan.purpose == PlanPurpose::release) {
        return fail(Code::invalid, "plan.purpose: release is an undo; use kubexmctl undo OWNER");
    }
    if (plan.purpose == PlanPurpose::repair) {
        return fail(Code::invalid, "plan.purpose: the executor makes repairs; send repair");
    }
    return {};
}

/// Content of a rendered file is never a client's: root executes some of these files.
Result<> check_rendered(const model::Plan& plan) {
    for (const model::Step& step : plan.steps) {
        const auto* file = std::get_if<model::RenderedFile>(&step);
        if (file == nullptr || !file->written) continue;
        return fail(Code::denied,
                    model::text_of(step) + ": written: expected none; only repairs have it");
    }
    return {};
}

/// The journal and the ledger have narrower limits than the wire. A plan that they could not read
/// back would stay running forever and could not be undone.
Result<> can_be_read_back(const model::Plan& plan) {
    if (auto again = model::plan_from_json(model::to_json(plan)); !again) {
        return during("plan for the journal", again.error());
    }
    for (const model::Step& step : plan.steps) {
        if (auto again = model::step_from_json(model::to_json(step)); !again) {
            return during(model::text_of(step), again.error());
        }
    }
    return {};
}

}  // namespace

Engine::Engine(std::string state_directory, const Root& root, Systemd& systemd,
               model::AllowList allow)
    : reserve_(state_directory),
      confirmed_(state_directory),
      store_(std::move(state_directory)),
      root_(root),
      systemd_(systemd),
      allow_(std::move(allow)) {}

void Engine::note(const Caller& caller, std::string_view event, std::string_view detail) {
    std::ignore = store_.use([&](Records& records) {
        return records.journal.audit(caller.uid, caller.pid, event, audited(caller, detail));
    });
}

void Engine::note_refusal(const Caller& caller, std::string_view what) {
    refusals_.add(caller, what, std::chrono::steady_clock::now());
}

void Engine::write_refusals() {
    // After a failure they stay queued: without a journal every change is refused anyway.
    std::ignore = store_.use([&](Records& records) -> Result<> {
        while (const auto next = refusals_.first()) {
            const auto& [caller, what] = *next;
            TRY(records.journal.audit(caller.uid, caller.pid, "refused", audited(caller, what)));
            refusals_.pop();
        }
        return {};
    });
}

std::unexpected<Error> Engine::refuse(const Caller& caller, const Error& error) {
    note_refusal(caller, error.what);
    write_refusals();
    return std::unexpected(error);
}

Result<> Engine::check(const model::Plan& plan, const Caller& caller) {
    if (auto good = check_purpose(plan); !good) return refuse(caller, good.error());
    if (auto good = check_rendered(plan); !good) return refuse(caller, good.error());
    if (auto good = permitted(plan, allow_); !good) return refuse(caller, good.error());
    if (auto good = can_be_read_back(plan); !good) return refuse(caller, good.error());
    return {};
}

Result<PlanRecord> Engine::begin(Journal& journal, PlanRecord record, std::uint32_t steps,
                                 const Caller& caller) {
    record.started_at = record.changed_at = std::time(nullptr);
    // Audited first: every plan that runs has an audited caller.
    TRY(journal.audit(caller.uid, caller.pid, kPlanOffered,
                      audited(caller, record.id + " " + record.hash)));
    if (auto begun = journal.begin(record, steps); !begun) return refuse(caller, begun.error());
    return journal.plan(record.id);
}

Result<> Engine::acceptable(const model::Plan& plan, std::span<const Content> contents,
                            const Caller& caller) {
    return store_.use([&](Records& records) -> Result<> {
        TRY(check(plan, caller));
        const bool known = TRY(is_known(records.journal, plan.owner));
        auto good = may_apply_for(plan.owner, known, caller.uid);
        if (good) good = may_retry(records.journal, plan, caller);
        if (good) good = records.journal.is_new(plan.id);
        if (good) good = check_contents(plan, contents);
        if (good) good = check_quota(records, plan, contents, caller);
        if (good) good = check_join(records.journal, plan, caller);
        if (!good) return refuse(caller, good.error());
        return {};
    });
}

Result<PlanRecord> Engine::accept(const model::Plan& plan, std::span<Content> contents,
                                  const Caller& caller) {
    TRY(acceptable(plan, contents, caller));
    return store_.use([&](Records& records) -> Result<PlanRecord> {
        auto stored = store_contents(records.vault, plan, contents);
        if (stored) stored = check_authorities(records, plan, caller);
        auto begun = stored ? begin(records.journal, record_of(plan, caller),
                                    static_cast<std::uint32_t>(plan.steps.size()), caller)
                            : refuse(caller, stored.error());
        if (!begun) drop_refused_contents(records);
        return begun;
    });
}

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
        return store_.use([&](Records& records) {
            return begin(records.journal, record_of(undo_plan(id, owner), caller), 0, caller);
        });
    });
}

Result<PlanRecord> Engine::accept_repair(const std::string& id, const std::string& owner,
                                         const Caller& caller) {
    if (auto good = may_change_objects_of(owner, caller.uid); !good) {
        return refuse(caller, good.error());
    }
    return store_.use([&](Records& records) -> Result<PlanRecord> {
        const auto plan = repair_plan(records, id, owner);
        if (!plan) return refuse(caller, plan.error());
        auto good = permitted(*plan, allow_);
        if (good) good = can_be_read_back(*plan);
        if (good) good = records.journal.is_new(id);
        if (good) good = may_retry(records.journal, *plan, caller);
        if (good) good = check_quota(records, *plan, {}, caller);
        if (!good) return refuse(caller, good.error());
        return begin(records.journal, record_of(*plan, caller),
                     static_cast<std::uint32_t>(plan->steps.size()), caller);
    });
}

Result<std::optional<PlanRecord>> Engine::interrupted() {
    return store_.use([this](Records& records) -> Result<std::optional<PlanRecord>> {
        auto running = TRY(records.journal.running());
        if (!running) reserve_.keep();
        // The process that ended the last plan may have been killed before this.
        if (!running) TRY(drop_unused_contents(records.journal, records.vault));
        return running;
    });
}

Result<PlanState> Engine::carry_out(const PlanRecord& record, const Stop& stop,
                                    const Runner::Listener& listener) {
    const auto work = [&] { return run(record, stop, listener); };
    auto state = record.purpose == PlanPurpose::release ? with_reserve(work) : work();
    if (state) reserve_.keep();  // a release may have used it, and may have made room
    return state;
}

Result<PlanState> Engine::run(const PlanRecord& record, const Stop& stop,
                              const Runner::Listener& listener) {
    auto state = store_.use([&](Records& records) {
        Runner runner({records.journal, records.vault, root_, systemd_, allow_}, listener);
        return runner.run(record, stop);
    });
    if (!state) store_.mark_suspect();
    return state;
}

Result<Recovered> Engine::journal() { return store_.content(); }

Result<> Engine::decide(RecordStore::Decision decision, const Caller& caller) {
    if (caller.uid != 0) {
        return refuse(caller,
                      {Code::denied, "damaged journal: only root may restore or discard it"});
    }
    return store_.decide(decision, caller.uid, caller.pid);
}

Result<StepPreview> Engine::preview_step(const model::Step& step, const Caller& caller) {
    auto result = store_.use([&](Records& records) { return preview_step(records, step); });
    // The host may refuse what the policy cannot see, such as a link in a path.
    const bool refused =
        !result && (result.error().code == Code::denied || result.error().code == Code::invalid);
    if (refused) return refuse(caller, result.error());
    return result;
}

Result<StepPreview> Engine::preview_step(Records& records, const model::Step& step) {
    const std::optional<LedgerEntry> entry =
        TRY(records.journal.ledger_entry(model::type_of(step), model::target_of(step)));
    Context context{
        root_, systemd_, records.vault, std::chrono::steady_clock::now() + kReadDeadline, {}};
    if (entry) {
        context.created = was_created(*entry);
        if (auto previous = applied_step(*entry)) context.previous = *std::move(previous);
    }
    return preview(context, step);
}

Result<PlanRecord> Engine::plan(const std::string& id) {
    return store_.use([&](Records& records) { return records.journal.plan(id); });
}

Result<std::string> Engine::running_plan() {
    return store_.use([](Records& records) -> Result<std::string> {
        const auto running = TRY(records.journal.running());
        return running ? running->id : "";
    });
}

Result<std::vector<PlanRecord>> Engine::history(std::uint32_t limit) {
    return store_.use(
        [&](Records& records) { return records.journal.history(std::min(limit, kMostHistory)); });
}

Result<std::vector<OutcomeRecord>> Engine::outcomes() {
    return store_.use([](Records& records) { return records.journal.outcomes(); });
}

Result<std::map<std::string, std::uint32_t>> Engine::objects() {
    const auto entries =
        TRY(store_.use([](Records& records) { return records.journal.ledger(""); }));
    std::map<std::string, std::uint32_t> counts;
    for (const LedgerEntry& entry : entries) {
        for (const LedgerOwner& owner : entry.owners) ++counts[owner.owner];
    }
    return counts;
}

Result<std::optional<OutcomeRecord>> Engine::unfinished_undo() {
    const auto counts = TRY(objects());
    const auto newest_first = TRY(outcomes());
    std::set<std::string> seen;
    for (const OutcomeRecord& outcome : newest_first) {
        if (!seen.insert(outcome.owner).second) continue;  // an older outcome of the owner
        const bool failed_undo =
            outcome.purpose == PlanPurpose::release && outcome.state == PlanState::failed;
        if (failed_undo && counts.contains(outcome.owner)) return outcome;
    }
    return std::nullopt;
}

Result<PlanRecord> Engine::undo_again(const std::string& id, const Caller& caller) {
    const std::optional<OutcomeRecord> failed = TRY(unfinished_undo());
    if (!failed) return fail(Code::not_found, "no undo is unfinished");
    PlanRecord record = record_of(undo_plan(id, failed->owner), caller);
    record.uid = failed->uid;
    return store_.use([&](Records& records) { return begin(records.journal, record, 0, caller); });
}

Result<UnitStatus> Engine::unit(const std::string& name) {
    return systemd_.status(name, std::chrono::steady_clock::now() + kReadDeadline);
}

}  // namespace kubexm::executor
