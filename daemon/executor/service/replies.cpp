#include "daemon/executor/service/replies.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/text.hpp"
#include "daemon/model/plan_states.hpp"

namespace kubexm::executor {

namespace {

constexpr std::size_t kMaxNameBytes = 512;

/// A list that cannot be read is shown as one entry: nothing may look restored by mistake.
model::Stays stays_of(const std::string& text) {
    auto stays = model::stays_from_json(text);
    if (stays) return *std::move(stays);
    return {{{.object = "objects of an undo", .why = stays.error().what, .blocks_join = true}}};
}

wire::Outcome outcome_of(const OutcomeRecord& record) {
    auto stays = stays_of(record.stays);
    return {.purpose = record.purpose,
            .plan_id = record.plan_id,
            .wanted = record.wanted,
            .uid = record.uid,
            .state = record.state,
            .error = record.error,
            .stays = std::move(stays.named),
            .at = record.at,
            .unnamed = stays.unnamed};
}

}  // namespace

wire::Refused refused(const Error& error) { return {std::string(name_of(error.code)), error.what}; }

Error too_many_requests(const Caller& caller) {
    return {Code::exhausted,
            fmt::format("too many requests of user {} are queued; retry later", caller.uid)};
}

wire::StepEvent event_of(const Report& report) {
    return {report.plan_id, report.index, report.state, report.text, report.error, report.progress};
}

wire::PlanSummary summary_of(const PlanRecord& record) {
    auto stays = stays_of(record.stays);
    return {.plan_id = record.id,
            .hash = record.hash,
            .owner = record.owner,
            .purpose = record.purpose,
            .wanted = record.wanted,
            .uid = record.uid,
            .state = record.state,
            .error = record.last_error,
            .stays = std::move(stays.named),
            .started_at = record.started_at,
            .changed_at = record.changed_at,
            .unnamed = stays.unnamed};
}

std::vector<wire::ObservedOwner> owners_of(
    const std::vector<OutcomeRecord>& outcomes, const std::map<std::string, std::uint32_t>& objects,
    const std::map<std::string, std::vector<std::string>>& pending) {
    std::vector<wire::ObservedOwner> owners;
    const auto find_or_add = [&](const std::string& name) -> wire::ObservedOwner& {
        const auto known = std::ranges::find(owners, name, &wire::ObservedOwner::name);
        if (known != owners.end()) return *known;
        const auto count = objects.find(name);
        return owners.emplace_back(name, count == objects.end() ? 0 : count->second);
    };
    for (const OutcomeRecord& record : outcomes) {
        find_or_add(record.owner).outcomes.push_back(outcome_of(record));
    }
    for (const auto& [name, count] : objects) find_or_add(name);
    for (const auto& [name, files] : pending) find_or_add(name).pending = files;
    return owners;
}

std::vector<wire::AuthorityView> views_of(const std::vector<pki::Authority>& authorities) {
    std::vector<wire::AuthorityView> views;
    views.reserve(authorities.size());
    for (const pki::Authority& one : authorities) {
        views.push_back({printable(bounded_utf8(one.name, kMaxNameBytes)), one.pin});
    }
    return views;
}

wire::JournalEntry entry_of(const LedgerEntry& entry) {
    const auto step = model::step_from_json(entry.step);
    std::vector<std::string_view> owners;
    owners.reserve(entry.owners.size());
    for (const LedgerOwner& owner : entry.owners) owners.push_back(owner.owner);
    return {fmt::format("{}", fmt::join(owners, ", ")),
            step ? model::text_of(*step) : entry.type + " " + entry.target};
}

wire::JournalState state_of(const Recovered& found) {
    return {found.file, static_cast<std::uint32_t>(found.ledger.size()),
            static_cast<std::uint32_t>(found.plans.size()), found.damage};
}

wire::Drift drift_of(const DriftReport& report) {
    wire::Drift drift;
    for (const Drifted& each : report.objects) {
        drift.objects.push_back({each.owner, each.object, each.found});
    }
    return drift;
}

std::vector<wire::StepEvent> events_of(const PlanRecord& record) {
    std::vector<wire::StepEvent> events;
    const auto plan = model::plan_from_json(record.document);
    for (const StepRecord& step : record.steps) {
        const bool known = plan && step.index < plan->steps.size();
        events.push_back({record.id, step.index, step.state,
                          known ? model::text_of(plan->steps[step.index]) : "", step.error, ""});
    }
    return events;
}

}  // namespace kubexm::executor
