#pragma once

#include "daemon/hands/executor/refusals.hpp"
#include "daemon/hands/executor/runner.hpp"
#include "daemon/hands/journal/records.hpp"
#include "daemon/hands/journal/salvage.hpp"
#include "daemon/hands/wire/messages.hpp"

namespace kubexm::hands {

// What we know, in the words of the wire. Pure.

wire::Refused refused(const Error& error);
/// Why a request of this user finds no room.
Error too_many_of(Caller caller);
wire::StepEvent event_of(const Report& report);
wire::PlanSummary summary_of(const PlanRecord& record);
wire::JournalEntry entry_of(const LedgerEntry& entry);
wire::JournalState state_of(const Salvage& found);
/// The events of a plan that ran earlier, as far as its record tells.
std::vector<wire::StepEvent> events_of(const PlanRecord& record);

}  // namespace kubexm::hands
