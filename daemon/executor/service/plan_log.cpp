#include "daemon/executor/service/plan_log.hpp"

#include <fmt/format.h>

#include <vector>

#include "daemon/base/log.hpp"
#include "daemon/base/text.hpp"
#include "daemon/loop/loop.hpp"
#include "daemon/model/plan_states.hpp"

namespace kubexm::executor {

namespace {

// From systemd-id128. Never change them: users search for them.
constexpr std::string_view kAccepted = "e741e74ad4184dbb89eed0fc77754831";
constexpr std::string_view kResumed = "d9af5bbcb41b4a59bb8ec9be16e39cf8";
constexpr std::string_view kStep = "c2b5c6cbe4174b3da04c29df2e2dbba0";
constexpr std::string_view kStepFailed = "732b4f10e39041f797f8cacbb0ee1353";
constexpr std::string_view kEnd = "9f821681f23148f4b07114f2f2499761";

}  // namespace

void log_accepted(const PlanRecord& plan) {
    log::notice(fmt::format("plan {} accepted", plan.id),
                {{"MESSAGE_ID", kAccepted}, {"PLAN", plan.id}, {"HASH", plan.hash}});
}

void log_resumed(const PlanRecord& plan) {
    log::notice(fmt::format("resuming interrupted plan {}", plan.id),
                {{"MESSAGE_ID", kResumed}, {"PLAN", plan.id}, {"HASH", plan.hash}});
}

void log_step(const Report& report) {
    const bool failed = report.state == StepState::failed;
    const std::string number = std::to_string(report.index);
    std::vector<log::Field> fields{{"MESSAGE_ID", failed ? kStepFailed : kStep},
                                   {"PLAN", report.plan_id},
                                   {"STEP", number},
                                   {"STATE", name_of(report.state)}};
    if (!report.unit.empty()) fields.emplace_back("UNIT", report.unit);
    if (failed) fields.emplace_back("CODE", name_of(report.code));
    std::string message =
        fmt::format("plan {}: {}: {}", report.plan_id, name_of(report.state), report.text);
    if (!report.error.empty()) message += fmt::format(": {}", report.error);
    log::write(failed ? log::Level::error : log::Level::info, message, fields);
}

void log_end(const PlanRecord& plan) {
    std::string message = fmt::format("plan {} ended: {}", plan.id, name_of(plan.state));
    if (!plan.last_error.empty()) message += fmt::format(": {}", plan.last_error);
    const bool failed = plan.state == PlanState::failed;
    log::write(failed ? log::Level::error : log::Level::notice, message,
               {{"MESSAGE_ID", kEnd}, {"PLAN", plan.id}, {"STATE", name_of(plan.state)}});
}

void set_status(const std::string& text) { notify_systemd(("STATUS=" + printable(text)).c_str()); }

}  // namespace kubexm::executor
