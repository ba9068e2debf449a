#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/digest.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/engine/engine.hpp"
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

}  // namespace

/// A shutdown stops units, and a package replaces files: neither is somebody's change.
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
    return difference(context, applied);
}

Result<DriftReport> Engine::drift() {
    return store_.use([&](Records& records) -> Result<DriftReport> {
        DriftReport report{.paths = {kPackageLocks.begin(), kPackageLocks.end()}};
        const auto running = TRY(records.journal.running());
        report.decided = TRY(is_settled());
        report.decided = report.decided && !running;
        const auto entries = TRY(records.journal.ledger(""));
        for (const LedgerEntry& entry : entries) {
            const auto step = readable_step(entry);
            if (!step) continue;
            for (std::string& path : paths_of(*step)) report.paths.push_back(std::move(path));
            if (!report.decided) continue;
            const std::string found = TRY(difference_of(records, entry, *step));
            if (found.empty()) continue;
            for (const LedgerOwner& owner : entry.owners) {
                report.objects.push_back({owner.owner, model::text_of(*step), found});
            }
        }
        return report;
    });
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
    for (const LedgerEntry& entry : entries) {
        auto step = readable_step(entry);
        if (!step || !is_of(entry, owner)) continue;
        const std::string found = TRY(difference_of(records, entry, *step));
        applied.push_back({*std::move(step), !found.empty()});
    }
    model::Plan plan{.id = id,
                     .owner = owner,
                     .steps = repair_steps(applied, id),
                     .purpose = PlanPurpose::repair};
    if (plan.steps.empty()) {
        return fail(Code::not_found, fmt::format("owner {}: nothing differs", owner));
    }
    for (const model::Step& step : plan.steps) TRY(has_contents(records.vault, step));
    return plan;
}

}  // namespace kubexm::executor
