#include "daemon/executor/engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <tuple>

#include "daemon/base/refusal.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/engine/data_kinds.hpp"
#include "daemon/executor/engine/ledger_steps.hpp"
#include "daemon/executor/engine/plan_records.hpp"
#include "daemon/executor/engine/policy.hpp"
#include "daemon/executor/engine/present_cluster.hpp"
#include "daemon/executor/engine/quota.hpp"
#include "daemon/executor/engine/retry_limit.hpp"
#include "daemon/executor/engine/root_objects.hpp"

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

Result<> check_roots_objects(Journal& journal, const model::Plan& plan, const Caller& caller) {
    if (caller.uid == 0) return {};
    return leaves_roots_objects(plan, TRY(journal.ledger("")));
}

/// Whether something was done for the owner before.
Result<bool> is_known(Journal& journal, const std::string& owner) {
    const auto outcomes = TRY(journal.outcomes());
    return std::ranges::find(outcomes, owner, &OutcomeRecord::owner) != outcomes.end();
}

Result<> may_decide(const Caller& caller) {
    if (caller.uid == 0) return {};
    return refusal("journal-decisions", Code::denied,
                   "damaged journal: only root may restore or discard it");
}

/// An undo has no steps of its own, and a repair none but applied ones: the ledger has them.
Result<> check_purpose(const model::Plan& plan) {
    if (plan.purpose == PlanPurpose::release) {
        TRY(refusal("purpose", Code::invalid,
                    "plan.purpose: release is an undo; use kubexmctl undo OWNER"));
    }
    if (plan.purpose == PlanPurpose::repair) {
        TRY(refusal("purpose", Code::invalid,
                    "plan.purpose: the executor makes repairs; send repair"));
    }
    return {};
}

/// Content of a rendered file is never a client's: root executes some of these files.
Result<> check_rendered(const model::Plan& plan) {
    for (const model::Step& step : plan.steps) {
        const auto* file = std::get_if<model::RenderedFile>(&step);
        if (file == nullptr || !file->written) continue;
        TRY(refusal("written", Code::denied,
                    model::text_of(step) + ": written: expected none; only repairs have it"));
    }
    return {};
}

}  // namespace

Engine::Engine(std::string state_directory, const Root& root, Systemd& systemd,
               model::AllowList allow)
    : reserve_(state_directory),
      confirmed_(state_directory),
      joined_(state_directory),
      store_(std::move(state_directory)),
      root_(root),
      systemd_(systemd),
      allow_(std::move(allow)) {}

void Engine::note(const Caller& caller, std::string_view event, std::string_view detail) {
    std::ignore = store_.use([&](Records& records) {
        return records.journal.audit(caller.uid, caller.pid, event, audited(caller, detail));
    });
}

void Engine::queue_event(const Caller& caller, std::string_view event, std::string_view what) {
    const std::string subject(what);
    events_.add({caller, std::string(event), subject}, subject, std::chrono::steady_clock::now());
}

Result<> Engine::write_events(Journal& journal) {
    while (const auto next = events_.first()) {
        const auto& [caller, event, detail] = *next;
        TRY(journal.audit(caller.uid, caller.pid, event, audited(caller, detail)));
        events_.pop();
    }
    return {};
}

void Engine::write_events() {
    // After a failure they stay queued: without a journal every change is refused anyway.
    std::ignore = store_.use([&](Records& records) { return write_events(records.journal); });
}

std::unexpected<Error> Engine::refuse(const Caller& caller, const Error& error) {
    queue_event(caller, "refused", error.what);
    write_events();
    return std::unexpected(error);
}

Result<> Engine::check(const model::Plan& plan, const Caller& caller) {
    if (auto good = check_purpose(plan); !good) return refuse(caller, good.error());
    if (auto good = check_rendered(plan); !good) return refuse(caller, good.error());
    if (auto good = permitted(plan, allow_); !good) return refuse(caller, good.error());
    if (auto good = can_be_read_back(plan); !good) return refuse(caller, good.error());
    return {};
}

/// Nothing limits how often an owner's objects are given back, only how often that is audited.
Result<> Engine::audit_offer(Journal& journal, const PlanRecord& record, const Caller& caller) {
    const std::string detail = record.id + " " + record.hash;
    const bool is_undo = caller.uid != 0 && record.purpose == PlanPurpose::release;
    const bool gives_back = is_undo && !TRY(journal.ledger(record.owner)).empty();
    if (!gives_back) {
        return journal.audit(caller.uid, caller.pid, kPlanOffered, audited(caller, detail));
    }
    events_.add({caller, std::string(kPlanOffered), detail}, record.owner,
                std::chrono::steady_clock::now());
    return write_events(journal);
}

Result<PlanRecord> Engine::begin(Journal& journal, PlanRecord record, std::uint32_t steps,
                                 const Caller& caller) {
    record.started_at = record.changed_at = std::time(nullptr);
    // Audited first: every plan that runs has an audited caller.
    TRY(audit_offer(journal, record, caller));
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
        if (good) good = check_roots_objects(records.journal, plan, caller);
        if (good) good = check_join(records.journal, plan, caller);
        if (!good) return refuse(caller, good.error());
        return {};
    });
}

Result<> Engine::store(Records& records, const model::Plan& plan, std::span<Content> contents,
                       const Caller& caller) {
    const std::int64_t before = TRY(records.vault.bytes());
    TRY(store_contents(records.vault, plan, contents));
    const std::int64_t after = TRY(records.vault.bytes());
    if (caller.uid != 0) TRY(within_vault({}, before, after));
    if (caller.uid != 0 && !contents.empty()) {
        const FileBytes files = TRY(file_bytes(records, plan));
        TRY(within_files({}, files.before, files.after));
    }
    TRY(check_kinds(records.journal, records.vault, plan));
    if (caller.uid == 0) return {};  // root decides whom this host trusts
    return check_authorities(records, plan, caller, present_cluster(records, root_));
}

Result<PlanRecord> Engine::accept(const model::Plan& plan, std::span<Content> contents,
                                  const Caller& caller) {
    TRY(acceptable(plan, contents, caller));
    return store_.use([&](Records& records) -> Result<PlanRecord> {
        const auto stored = store(records, plan, contents, caller);
        auto begun = stored ? begin(records.journal, record_of(plan, caller),
                                    static_cast<std::uint32_t>(plan.steps.size()), caller)
                            : refuse(caller, stored.error());
        if (!begun) drop_refused_contents(records);
        return begun;
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
        if (!running) std::ignore = remember_cluster(records);
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
        const Caller caller{.uid = record.uid};
        const bool is_judged = caller.uid != 0 && record.purpose != PlanPurpose::release;
        const Present present = is_judged ? present_cluster(records, root_) : Present();
        const auto plan_permitted = [&](const model::Plan& plan) {
            // A repair brings nothing that was not judged.
            const bool is_over = is_off("lists-again") || plan.purpose == PlanPurpose::repair;
            return is_over ? Result<>() : check_authorities(records, plan, caller, present);
        };
        const auto permitted_now = [&](const model::Plan& plan, const model::Step& step) {
            return this->permitted_now(records, plan, step, caller, present);
        };
        const auto step_permitted = [&](const std::string& owner, const model::Step& step) {
            return permitted_again(records, owner, step);
        };
        Runner runner({records.journal, records.vault, root_, systemd_, allow_, plan_permitted,
                       permitted_now, step_permitted},
                      listener);
        auto reached = runner.run(record, stop);
        // Where this fails, it is done when the executor starts again.
        if (reached == PlanState::done) std::ignore = remember_cluster(records);
        return reached;
    });
    if (!state) store_.mark_suspect();
    return state;
}

Result<Recovered> Engine::journal() { return store_.content(); }

Result<> Engine::decide(RecordStore::Decision decision, const Caller& caller) {
    const auto good = may_decide(caller);
    if (!good) return refuse(caller, good.error());
    return store_.decide(decision, caller.uid, caller.pid);
}

Result<PreviewedStep> Engine::preview_step(const model::Step& step, const Caller& caller) {
    auto result = store_.use([&](Records& records) { return preview_step(records, step); });
    // The host may refuse a step that the policy permits, such as one with a link in its path.
    const bool refused =
        !result && (result.error().code == Code::denied || result.error().code == Code::invalid);
    if (refused) return refuse(caller, result.error());
    return result;
}

Result<PreviewedStep> Engine::preview_step(Records& records, const model::Step& step) {
    const std::optional<LedgerEntry> entry =
        TRY(records.journal.ledger_entry(model::type_of(step), model::target_of(step)));
    Context context{
        root_, systemd_, records.vault, std::chrono::steady_clock::now() + kReadDeadline, {}};
    context.any_command = permits_any_command(allow_);
    if (entry) {
        context.created = was_created(*entry);
        if (auto previous = applied_step(*entry)) context.previous = *std::move(previous);
    }
    return preview(context, step);
}

Result<PlanRecord> Engine::plan(const std::string& id) {
    return store_.use([&](Records& records) { return records.journal.plan(id); });
}

Result<std::string> Engine::running_undo(const std::string& owner) {
    return store_.use([&](Records& records) -> Result<std::string> {
        const auto running = TRY(records.journal.running());
        const bool is_it =
            running && running->purpose == PlanPurpose::release && running->owner == owner;
        return is_it ? running->id : "";
    });
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

Result<UnitStatus> Engine::unit(const std::string& name) {
    return systemd_.status(name, std::chrono::steady_clock::now() + kReadDeadline);
}

}  // namespace kubexm::executor
