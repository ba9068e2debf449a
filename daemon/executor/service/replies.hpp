#pragma once

#include "daemon/executor/engine/audit_queue.hpp"
#include "daemon/executor/engine/drift.hpp"
#include "daemon/executor/engine/runner.hpp"
#include "daemon/executor/journal/records.hpp"
#include "daemon/executor/journal/recovery.hpp"
#include "daemon/executor/wire/messages.hpp"
#include "daemon/pki/authority.hpp"

namespace kubexm::executor {

// Messages of the wire from records of the engine. Pure.

wire::Refused refused(const Error& error);
/// The refusal of a request whose user has too many queued.
Error too_many_requests(const Caller& caller);
wire::StepEvent event_of(const Report& report);
wire::PlanSummary summary_of(const PlanRecord& record);
/// Every owner with objects or plans, the one with the newest plan first. `pending` as from
/// Engine::pending_renderings().
std::vector<wire::ObservedOwner> owners_of(
    const std::vector<OutcomeRecord>& outcomes, const std::map<std::string, std::uint32_t>& objects,
    const std::map<std::string, std::vector<std::string>>& pending);
std::vector<wire::AuthorityView> views_of(const std::vector<pki::Authority>& authorities);
wire::JournalEntry entry_of(const LedgerEntry& entry);
wire::JournalState state_of(const Recovered& found);
wire::Drift drift_of(const DriftReport& report);
/// The events of an earlier plan, from its record.
std::vector<wire::StepEvent> events_of(const PlanRecord& record);

}  // namespace kubexm::executor
