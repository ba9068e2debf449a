#pragma once

#include "daemon/executor/engine/refusals.hpp"
#include "daemon/executor/engine/runner.hpp"
#include "daemon/executor/journal/records.hpp"
#include "daemon/executor/journal/recovery.hpp"
#include "daemon/executor/wire/messages.hpp"

namespace kubexm::executor {

// What we know, in the words of the wire. Pure.

wire::Refused refused(const Error& error);
/// Why a request of this user finds no room.
Error too_many_of(Caller caller);
wire::StepEvent event_of(const Report& report);
wire::PlanSummary summary_of(const PlanRecord& record);
wire::JournalEntry entry_of(const LedgerEntry& entry);
wire::JournalState state_of(const Recovered& found);
/// The events of a plan that ran earlier, as far as its record tells.
std::vector<wire::StepEvent> events_of(const PlanRecord& record);

}  // namespace kubexm::executor
