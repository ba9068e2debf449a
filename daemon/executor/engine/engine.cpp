#include "daemon/executor/engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <set>
#include <tuple>

#include "daemon/executor/engine/policy.hpp"
#include "daemon/executor/engine/retry_limit.hpp"
#include "daemon/executor/steps/steps.hpp"

namespace kubexm::executor {

namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kMostHistory = 200;
constexpr auto kLookDeadline = 20s;

/// What came with a plan that was refused does not stay: it would be a way to fill the disk.
void forget_what_came(Records& records) {
    const auto running = records.journal.running();
    if (!running || *running) return;  // that one needs what the ledger does not know yet
    std::ignore = forget_unused_content(records.journal, records.vault);
}

Result<> may_try(Journal& journal, const model::Plan& plan, Caller caller) {
    if (caller.uid == 0) return {};
    return check_retry_limit(journal, model::hash_of(plan));
}

/// The journal and the ledger read a plan and its steps with limits that are narrower than the
/// wire's: what they could not read back would run for ever, and nothing could be undone.
Result<> can_be_read_back(const model::Plan& plan) {
    if (auto again = model::plan_from_json(model::to_json(plan)); !again) {
        return during("plan as it would be journaled", again.error());
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
    : store_(std::move(state_directory)),
      root_(root),
      systemd_(systemd),
      allow_(std::move(allow)) {}

void Engine::note_refusal(Caller caller, std::string_view what) {
    refusals_.add(caller, what, std::chrono::steady_clock::now());
}

void Engine::write_refusals() {
    // Where that fails they wait: without a journal every change is refused anyway.
    std::ignore = store_.use([&](Records& records) -> Result<> {
        while (const auto next = refusals_.first()) {
            const auto& [caller, what] = *next;
            auto written = records.journal.audit(caller.uid, caller.pid, "refused", what);
            if (!written) return written;
            refusals_.written();
        }
        return {};
    });
}

std::unexpected<Error> Engine::refuse(Caller caller, const Error& error) {
    note_refusal(caller, error.what);
    write_refusals();
    return std::unexpected(error);
}

Result<> Engine::check(const model::Plan& plan, Caller caller) {
    if (auto good = permitted(plan, allow_); !good) return refuse(caller, good.error());
    if (auto good = can_be_read_back(plan); !good) return refuse(caller, good.error());
    return {};
}

Result<PlanRecord> Engine::take_in(Journal& journal, PlanRecord record, std::uint32_t steps,
                                   Caller caller) {
    record.started_at = record.changed_at = std::time(nullptr);
    // Written down first: a plan that runs and that nobody asked for must not be possible.
    auto audited =
        journal.audit(caller.uid, caller.pid, "plan offered", record.id + " " + record.hash);
    if (!audited) return std::unexpected(audited.error());
    if (auto begun = journal.begin(record, steps); !begun) return refuse(caller, begun.error());
    return journal.plan(record.id);
}

Result<> Engine::acceptable(const model::Plan& plan, std::span<const Content> contents,
                            Caller caller) {
    return store_.use([&](Records& records) -> Result<> {
        if (auto good = check(plan, caller); !good) return good;
        auto good = may_try(records.journal, plan, caller);
        if (good) good = records.journal.is_new(plan.id);
        if (good) good = contents_fit(plan, contents);
        if (!good) return refuse(caller, good.error());
        return {};
    });
}

Result<PlanRecord> Engine::accept(const model::Plan& plan, std::span<Content> contents,
                                  Caller caller) {
    if (auto good = acceptable(plan, contents, caller); !good) {
        return std::unexpected(good.error());
    }
    return store_.use([&](Records& records) -> Result<PlanRecord> {
        auto kept = keep_contents(records.vault, plan, contents);
        auto taken = kept ? take_in(records.journal,
                                    {.id = plan.id,
                                     .hash = model::hash_of(plan),
                                     .owner = plan.owner,
                                     .document = model::to_json(plan)},
                                    static_cast<std::uint32_t>(plan.steps.size()), caller)
                          : refuse(caller, kept.error());
        if (!taken) forget_what_came(records);
        return taken;
    });
}

Result<> Engine::undo_acceptable(const std::string& id, const std::string& owner, Caller caller) {
    return store_.use([&](Records& records) -> Result<> {
        if (owner.empty()) {
            return refuse(caller, {Code::invalid, "undo needs the owner whose things go"});
        }
        const model::Plan nothing{id, owner, {}};
        auto good = can_be_read_back(nothing);
        if (good) good = records.journal.is_new(id);
        if (!good) return refuse(caller, good.error());
        return {};
    });
}

Result<PlanRecord> Engine::accept_undo(const std::string& id, const std::string& owner,
                                       Caller caller) {
    if (auto good = undo_acceptable(id, owner, caller); !good) {
        return std::unexpected(good.error());
    }
    const model::Plan nothing{id, owner, {}};
    return store_.use([&](Records& records) {
        return take_in(records.journal,
                       {.id = id,
                        .hash = model::hash_of(nothing),
                        .owner = owner,
                        .document = model::to_json(nothing),
                        .undoing = true},
                       0, caller);
    });
}

Result<std::optional<PlanRecord>> Engine::interrupted() {
    return store_.use([](Records& records) {
        auto running = records.journal.running();
        if (!running || *running) return running;
        // Whoever ended the last plan may have been cut off before this.
        auto cleaned = forget_unused_content(records.journal, records.vault);
        if (!cleaned) running = std::unexpected(cleaned.error());
        return running;
    });
}

Result<PlanState> Engine::carry_out(const PlanRecord& record, const Stop& stop,
                                    const Runner::Listener& listener) {
    auto state = store_.use([&](Records& records) {
        Runner runner({records.journal, records.vault, root_, systemd_, allow_}, listener);
        return runner.run(record, stop);
    });
    if (!state) store_.mark_suspect();
    return state;
}

Result<Recovered> Engine::journal() { return store_.look(); }

Result<> Engine::decide(RecordStore::Decision decision, Caller caller) {
    if (caller.uid != 0) {
        return refuse(caller, {Code::denied, "only root decides about a damaged journal"});
    }
    return store_.decide(decision, caller.uid, caller.pid);
}

Result<StepPreview> Engine::preview_step(const model::Step& step, Caller caller) {
    auto seen = store_.use([&](Records& records) { return preview_step(records, step); });
    // What may not be is seen only on the host, such as a link in a path.
    const bool refused =
        !seen && (seen.error().code == Code::denied || seen.error().code == Code::invalid);
    if (refused) return refuse(caller, seen.error());
    return seen;
}

Result<StepPreview> Engine::preview_step(Records& records, const model::Step& step) {
    auto entry = records.journal.ledger_entry(model::type_of(step), model::target_of(step));
    if (!entry) return std::unexpected(entry.error());
    Context context{
        root_, systemd_, records.vault, std::chrono::steady_clock::now() + kLookDeadline, {}};
    if (const std::optional<LedgerEntry>& known = *entry; known && !known->applied.empty()) {
        auto previous = model::step_from_json(known->applied);
        if (previous) context.previous = *std::move(previous);
    }
    auto already = holds(context, step);
    if (!already) return std::unexpected(already.error());
    auto lines = preview(context, step);
    if (!lines) return std::unexpected(lines.error());
    return StepPreview{*already, *std::move(lines)};
}

Result<PlanRecord> Engine::plan(const std::string& id) {
    return store_.use([&](Records& records) { return records.journal.plan(id); });
}

Result<std::vector<PlanRecord>> Engine::history(std::uint32_t limit) {
    return store_.use(
        [&](Records& records) { return records.journal.history(std::min(limit, kMostHistory)); });
}

Result<std::vector<std::string>> Engine::owners() {
    auto entries = store_.use([](Records& records) { return records.journal.ledger(""); });
    if (!entries) return std::unexpected(entries.error());
    std::set<std::string> names;
    for (const LedgerEntry& entry : *entries) names.insert(entry.owner);
    return std::vector<std::string>(names.begin(), names.end());
}

Result<UnitStatus> Engine::unit(const std::string& name) {
    return systemd_.status(name, std::chrono::steady_clock::now() + kLookDeadline);
}

}  // namespace kubexm::executor
