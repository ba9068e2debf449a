#include "daemon/executor/service/replies.hpp"

#include <fmt/format.h>

#include "daemon/executor/journal/names.hpp"

namespace kubexm::executor {

wire::Refused refused(const Error& error) { return {std::string(name_of(error.code)), error.what}; }

Error too_many_requests(Caller caller) {
    return {Code::exhausted,
            fmt::format("too many requests of user {} are queued; retry later", caller.uid)};
}

wire::StepEvent event_of(const Report& report) {
    return {report.plan_id, report.index, std::string(name_of(report.state)),
            report.text,    report.error, report.progress};
}

wire::PlanSummary summary_of(const PlanRecord& record) {
    return {
        record.id,         record.hash,       record.owner,     std::string(name_of(record.state)),
        record.last_error, record.started_at, record.changed_at};
}

wire::JournalEntry entry_of(const LedgerEntry& entry) {
    const auto step = model::step_from_json(entry.step);
    return {entry.owner, step ? model::text_of(*step) : entry.type + " " + entry.target};
}

wire::JournalState state_of(const Recovered& found) {
    return {found.file, static_cast<std::uint32_t>(found.ledger.size()),
            static_cast<std::uint32_t>(found.plans.size()), found.damage};
}

std::vector<wire::StepEvent> events_of(const PlanRecord& record) {
    std::vector<wire::StepEvent> events;
    const auto plan = model::plan_from_json(record.document);
    for (const StepRecord& step : record.steps) {
        const bool known = plan && step.index < plan->steps.size();
        events.push_back({record.id, step.index, std::string(name_of(step.state)),
                          known ? model::text_of(plan->steps[step.index]) : "", step.error, ""});
    }
    return events;
}

}  // namespace kubexm::executor
