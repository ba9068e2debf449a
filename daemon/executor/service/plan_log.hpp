#pragma once

#include "daemon/executor/engine/runner.hpp"
#include "daemon/executor/journal/records.hpp"

namespace kubexm::executor {

// What journalctl and systemctl status tell of plans. Every entry has PLAN and a MESSAGE_ID of its
// own kind; those of steps have STEP, and UNIT where a unit is concerned; those of failures have
// CODE or ERROR. Any thread.

void log_accepted(const PlanRecord& plan);
void log_resumed(const PlanRecord& plan);
void log_step(const Report& report);
void log_end(const PlanRecord& plan);

/// One line, as systemd's STATUS=.
void say_status(const std::string& text);

}  // namespace kubexm::executor
