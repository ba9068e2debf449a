// The state of units, and systemd's knowledge of their files.

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/try.hpp"
#include "daemon/executor/host/unit_status.hpp"
#include "daemon/executor/steps/kinds.hpp"
#include "daemon/executor/steps/restart_key.hpp"
#include "daemon/executor/steps/rules.hpp"
#include "daemon/executor/steps/unit_command.hpp"

namespace kubexm::executor::kinds {

namespace {

constexpr const char* kKubelet = "kubelet.service";
constexpr const char* kUnitLinks = "/etc/systemd/system";
constexpr std::size_t kMaxUnitLinks = 65536;  // a host has a few hundred units

using Verb = Result<> (Systemd::*)(const std::string&, Deadline);

bool matches(const std::optional<bool>& desired, bool actual) {
    return !desired || *desired == actual;
}

/// An active unit must have finished starting, an inactive one must have finished stopping.
bool activity_matches(const std::optional<bool>& desired, const UnitStatus& now) {
    return !desired || (*desired ? is_active(now) : is_down(now));
}

bool holds_links(const std::string& directory) {
    return directory.ends_with(".wants") || directory.ends_with(".requires") ||
           directory.ends_with(".upholds");
}

/// Whether a link exists that enabling makes. systemd does not report it for a masked unit.
Result<bool> is_linked(Context& context, const std::string& unit) {
    const auto names = TRY(entries_in(context, kUnitLinks, kMaxUnitLinks));
    return std::ranges::any_of(names, [&](const std::string& name) {
        if (!holds_links(name)) return false;
        auto link = state_at(context, fmt::format("{}/{}/{}", kUnitLinks, name, unit));
        return link && link->kind == PathKind::symlink;
    });
}

/// An active unit needs a restart when its restart_key changed since it was applied.
bool needs_restart(const Context& context, const model::UnitState& step) {
    if (step.restart_key.empty() || step.active != true) return false;
    const auto* previous =
        context.previous ? std::get_if<model::UnitState>(&*context.previous) : nullptr;
    return previous == nullptr || needs_another_start(previous->restart_key, step.restart_key);
}

Result<> call_if(bool needed, Verb verb, Context& context, const std::string& unit) {
    if (!needed) return {};
    return (context.systemd.*verb)(unit, context.deadline);
}

Verb disabling(const Context& context) {
    return context.reload_follows ? &Systemd::remove_links : &Systemd::disable;
}

/// A process that was killed may have made a link without the daemon-reload that follows it.
bool has_loaded_links(const model::UnitState& step, const UnitStatus& now) {
    return (!step.enabled && !step.masked) || !now.needs_reload;
}

/// The status of a unit after systemd has loaded the links on the disk.
Result<UnitStatus> fresh_status(Context& context, const model::UnitState& step) {
    auto now = TRY(context.systemd.status(step.name, context.deadline));
    if (has_loaded_links(step, now)) return now;
    TRY(context.systemd.reload(context.deadline));
    return context.systemd.status(step.name, context.deadline);
}

/// The same after the unit was unmasked, if it must not be masked.
Result<UnitStatus> unmasked_status(Context& context, const model::UnitState& step) {
    auto now = TRY(fresh_status(context, step));
    if (step.masked != false || !is_masked(now)) return now;
    TRY(context.systemd.unmask(step.name, context.deadline));
    return context.systemd.status(step.name, context.deadline);
}

/// A unit that the step does not start may have any command.
Result<> may_run(Context& context, const model::UnitState& step, const UnitStatus& now) {
    return step.active == true ? starts_as_written(context, now) : Result<>();
}

/// Before it is enabled: systemd's reload of all units takes longer than most starts.
Result<> start(Context& context, const model::UnitState& step, const UnitStatus& now) {
    TRY(may_run(context, step, now));
    if (step.active != true) return {};
    if (!is_active(now)) return context.systemd.start(step.name, context.deadline);
    if (needs_restart(context, step)) return context.systemd.restart(step.name, context.deadline);
    return {};
}

/// A unit that was failing before the plan may fail again: that is the state to restore.
Result<> start_again(Context& context, const std::string& unit, const UnitPreImage& before,
                     const UnitStatus& now) {
    const bool was_starting = before.starting == true;
    if (!before.active || is_active(now) || (was_starting && is_starting(now))) return {};
    auto done = context.systemd.start(unit, context.deadline);
    const bool failed =
        !done && (done.error().code == Code::unavailable || done.error().code == Code::timeout);
    return was_starting && failed ? Result<>() : done;
}

}  // namespace

Result<> permitted(const model::AllowList& allow, const model::UnitState& step) {
    return listed(allow.units, step.name, "units");
}

Result<bool> holds(Context& context, const model::UnitState& step) {
    context.unit = TRY(context.systemd.status(step.name, context.deadline));
    const UnitStatus& now = *context.unit;
    return matches(step.enabled, is_enabled(now)) && activity_matches(step.active, now) &&
           matches(step.masked, is_masked(now)) && has_loaded_links(step, now) &&
           !needs_restart(context, step) && may_run(context, step, now);
}

Result<PreImage> capture(Context& context, const model::UnitState& step) {
    const bool is_ours = context.has_lost_node && step.name == kKubelet;
    if (is_ours) return UnitPreImage{"disabled", false, {}, {}};
    const bool is_known = context.unit && context.unit->name == step.name;
    const auto now =
        is_known ? *context.unit : TRY(context.systemd.status(step.name, context.deadline));
    UnitPreImage image{.enablement = is_masked(now) ? "masked" : now.enablement,
                       .active = is_active(now),
                       .starting = {},
                       .linked = {}};
    if (is_starting(now)) image.starting = image.active = true;
    if (!is_masked(now)) return image;
    const bool linked = TRY(is_linked(context, step.name));
    if (linked) image.linked = true;
    return image;
}

Result<> apply(Context& context, const model::UnitState& step) {
    const auto now = TRY(unmasked_status(context, step));
    const std::string& unit = step.name;
    TRY(start(context, step, now));
    TRY(call_if(step.enabled == true && !is_enabled(now), &Systemd::enable, context, unit));
    TRY(call_if(step.active == false && !is_down(now), &Systemd::stop, context, unit));
    TRY(call_if(step.enabled == false && is_enabled(now), &Systemd::disable, context, unit));
    return call_if(step.masked == true && !is_masked(now), &Systemd::mask, context, unit);
}

Result<std::string> undo(Context& context, const model::UnitState& step, const PreImage& image) {
    const auto before = TRY(image_as<UnitPreImage>(image));
    const auto now = TRY(fresh_status(context, step));
    const std::string& unit = step.name;
    const bool was_masked = before.enablement == "masked";
    const bool was_enabled = before.enablement == "enabled" || before.linked == true;
    const bool stays_masked = was_masked && is_masked(now);
    const bool lost_links = was_enabled && !is_enabled(now) && !stays_masked;
    TRY(call_if(!was_masked && is_masked(now), &Systemd::unmask, context, unit));
    TRY(call_if(lost_links, &Systemd::enable, context, unit));
    TRY(start_again(context, unit, before, now));
    TRY(call_if(!before.active && now.active != "inactive", &Systemd::stop, context, unit));
    TRY(call_if(!was_enabled && is_enabled(now), disabling(context), context, unit));
    TRY(call_if(was_masked && !is_masked(now), &Systemd::mask, context, unit));
    // A unit that failed while it stopped would stay listed as failed after its file is removed.
    TRY(call_if(!before.active, &Systemd::reset_failed, context, unit));
    return std::string();
}

Result<Lines> preview(Context& context, const model::UnitState& step) {
    const auto now = TRY(context.systemd.status(step.name, context.deadline));
    if (const auto good = may_run(context, step, now); !good) return Lines{good.error().what};
    return Lines{fmt::format("{} ({}, {}): {}", step.name, now.active, now.enablement,
                             model::text_of(step))};
}

Result<> permitted(const model::AllowList& allow, const model::DaemonReload& step) {
    for (const std::string& unit : step.units) TRY(listed(allow.units, unit, "units"));
    return {};
}

Result<bool> holds(Context& context, const model::DaemonReload& step) {
    for (const std::string& unit : step.units) {
        const bool is_older = TRY(context.systemd.needs_reload(unit, context.deadline));
        if (is_older) return false;
    }
    return true;
}

Result<PreImage> capture(Context&, const model::DaemonReload&) { return NoPreImage{}; }

Result<> apply(Context& context, const model::DaemonReload&) {
    return context.systemd.reload(context.deadline);
}

/// The undo of the unit files may have done it.
Result<std::string> undo(Context& context, const model::DaemonReload& step, const PreImage&) {
    const bool current = TRY(holds(context, step));
    if (!current) TRY(context.systemd.reload(context.deadline));
    return std::string();
}

Result<Lines> preview(Context&, const model::DaemonReload& step) {
    return Lines{fmt::format("systemd reloads {}", fmt::join(step.units, ", "))};
}

}  // namespace kubexm::executor::kinds
