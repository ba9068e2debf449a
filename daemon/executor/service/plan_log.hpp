#pragma once

#include "daemon/executor/engine/runner.hpp"
#include "daemon/executor/journal/records.hpp"

namespace kubexm::executor {

// Log entries and the systemd status of plans. Every entry has PLAN and a MESSAGE_ID per kind;
// entries of steps have STEP and, for a step of a unit, UNIT; those of failed steps have CODE. Any
// thread.

void log_accepted(const PlanRecord& plan);
void log_resumed(const PlanRecord& plan);
void log_step(const Report& report);
void log_end(const PlanRecord& plan);

/// systemd's STATUS=, one line.
void set_status(const std::string& text);

}  // namespace kubexm::executor
