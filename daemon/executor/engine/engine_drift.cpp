#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/digest.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/engine/engine.hpp"
#include "daemon/executor/engine/footprint.hpp"
#include "daemon/executor/engine/ledger_steps.hpp"
#include "daemon/executor/engine/repair.hpp"
#include "daemon/executor/host/package_lock.hpp"
#include "daemon/executor/render/render.hpp"

// Differences between the ledger and the host, and the plan that removes them.

namespace kubexm::executor {

namespace {

using namespace std::chrono_literals;

constexpr auto kDriftDeadline = 20s;

bool is_of(const LedgerEntry& entry, const std::string& owner) {
    return std::ranges::find(entry.owners, owner, &LedgerOwner::owner) != entry.owners.end();
}

/// Nothing where the step was never done, or another version wrote it.
std::optional<model::Step> readable_step(const LedgerEntry& entry) {
    return applied_step(entry).value_or(std::nullopt);
}

/// False also where this version does not accept the document any more: its next plan says so.
bool renders_differently(const model::Step& applied) {
    const auto* file = std::get_if<model::RenderedFile>(&applied);
    if (file == nullptr || !file->written) return false;
    const auto now = render(file->document);
    return now &&
           (sha256(now->content) != file->written->digest || now->mode != file->written->mode.bits);
}

/// Programs are not kept once they are applied; those that are on the host need none.
Result<> has_contents(const Vault& vault, const model::Step& step) {
    if (model::traits_of(step).content.may_be_installed) return {};
    for (const std::string& digest : model::describe(step).digests) {
        if (vault.has(digest)) continue;
        return fail(Code::conflict, fmt::format("{}: its content is not kept; apply its plan again",
                                                model::text_of(step)));
    }
    return {};
}

/// The last repair of an owner, if it failed and no other plan followed.
Result<std::optional<PlanRecord>> failed_repair(Journal& journal, const std::string& owner) {
    const auto outcomes = TRY(journal.outcomes());
    const auto newest = std::ranges::find(outcomes, owner, &OutcomeRecord::owner);
    const bool has_failed = newest != outcomes.end() && newest->state == PlanState::failed &&
                            newest->purpose == PlanPurpose::repair;
    if (!has_failed) return std::nullopt;
    return journal.plan(newest->plan_id);
}

/// How an object's step failed in it; empty: it did not.
std::string failure_in(const PlanRecord& record, const model::Step& applied) {
    const auto plan = model::plan_from_json(record.document);
    if (!plan) return "";
    const auto failed = std::ranges::find_if(record.steps, [&](const StepRecord& each) {
        return each.state == StepState::failed &&
               is_one_object(plan->steps.at(each.index), applied);
    });
    return failed == record.steps.end() ? "" : failed->error;
}

}  // namespace

/// A shutdown stops units, and a package replaces files: neither is a person's change.
Result<bool> Engine::is_settled() {
    const bool stopping =
        TRY(systemd_.is_stopping(std::chrono::steady_clock::now() + kDriftDeadline));
    return !stopping && !packages_are_changing(root_);
}

Result<std::string> Engine::difference_of(Records& records, const LedgerEntry& entry,
                                          const model::Step& applied) {
    Context context{
        root_, systemd_, records.vault, std::chrono::steady_clock::now() + kDriftDeadline, {}};
    context.created = was_created(entry);
    context.previous = applied;
    return difference(context, digests_, applied);
}

/// Whether a repair can put a drifted object back. The error names the missing input.
Result<> Engine::can_repair(const Vault& vault, const model::Step& step) const {
    TRY(permitted(allow_, step));
    return has_contents(vault, step);
}

/// Why an object that differs is not put back, after a semicolon; empty: nobody tried.
Result<std::string> Engine::why_not_repaired(Records& records, const std::string& owner,
                                             const model::Step& step) {
    if (const auto possible = can_repair(records.vault, step); !possible) {
        return "; cannot be repaired: " + possible.error().what;
    }
    const auto record = TRY(failed_repair(records.journal, owner));
    const std::string failure = record ? failure_in(*record, step) : "";
    return failure.empty() ? "" : "; the last repair failed: " + failure;
}

Result<DriftReport> Engine::drift() {
    return store_.use([&](Records& records) -> Result<DriftReport> {
        DriftReport report{.paths = {kPackageLocks.begin(), kPackageLocks.end()}};
        const auto running = TRY(records.journal.running());
        report.decided = TRY(is_settled());
        report.decided = report.decided && !running;
        const auto leaving = TRY(leaving_owners(records.journal));
        auto entries = TRY(records.journal.ledger(""));
        for (LedgerEntry& entry : entries) {
            // Those who leave want nothing of it.
            std::erase_if(entry.owners,
                          [&](const auto& each) { return leaving.contains(each.owner); });
            const auto step = readable_step(entry);
            if (!step || entry.owners.empty()) continue;
            for (std::string& path : paths_of(*step)) report.paths.push_back(std::move(path));
            if (report.decided) TRY(add_difference(report, records, entry, *step));
        }
        return report;
    });
}

/// An object that cannot be compared does not hide the others.
Result<> Engine::add_difference(DriftReport& report, Records& records, const LedgerEntry& entry,
                                const model::Step& applied) {
    const auto found = difference_of(records, entry, applied);
    if (!found) {
        report.problem = found.error();
        return {};
    }
    if (const auto* setting = std::get_if<model::Sysctl>(&applied)) {
        report.settings.push_back({setting->key, found->empty() ? setting->value : *found});
    }
    if (found->empty()) return {};
    for (const LedgerOwner& owner : entry.owners) {
        const std::string why = TRY(why_not_repaired(records, owner.owner, applied));
        report.objects.push_back({owner.owner, model::text_of(applied), *found + why});
    }
    return {};
}

Result<std::map<std::string, std::vector<std::string>>> Engine::pending_renderings() {
    using Pending = std::map<std::string, std::vector<std::string>>;
    return store_.use([&](Records& records) -> Result<Pending> {
        Pending pending;
        const auto entries = TRY(records.journal.ledger(""));
        for (const LedgerEntry& entry : entries) {
            const auto step = readable_step(entry);
            if (!step || !renders_differently(*step)) continue;
            const auto drifted = difference_of(records, entry, *step);
            if (!drifted || !drifted->empty()) continue;
            for (const LedgerOwner& owner : entry.owners) {
                pending[owner.owner].push_back(model::object_of(*step));
            }
        }
        return pending;
    });
}

Result<model::Plan> Engine::repair_plan(Records& records, const std::string& id,
                                        const std::string& owner) {
    const bool settled = TRY(is_settled());
    if (!settled) {
        return fail(Code::unavailable,
                    "repair: the host shuts down or its packages change; retry later");
    }
    auto entries = TRY(records.journal.ledger(""));
    std::ranges::reverse(entries);  // oldest first
    std::vector<AppliedStep> applied;
    std::vector<Error> left;  // why not
    for (const LedgerEntry& entry : entries) {
        auto step = readable_step(entry);
        if (!step || !is_of(entry, owner)) continue;
        const auto found = difference_of(records, entry, *step);
        const bool differs = found && !found->empty();
        const auto possible = differs ? can_repair(records.vault, *step) : Result<>();
        if (!found) left.push_back(found.error());
        if (!possible) left.push_back(during(model::object_of(*step), possible.error()).error());
        if (permitted(allow_, *step)) applied.push_back({*std::move(step), differs && possible});
    }
    model::Plan plan{.id = id,
                     .owner = owner,
                     .steps = repair_steps(applied, id),
                     .purpose = PlanPurpose::repair};
    if (!plan.steps.empty()) return plan;
    if (!left.empty()) return during("repair", left.front());
    return fail(Code::not_found, fmt::format("owner {}: no drift; nothing to repair", owner));
}

}  // namespace kubexm::executor
