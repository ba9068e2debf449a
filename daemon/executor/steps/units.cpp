// Units, mounts, daemon reload, transient units: everything that PID 1 does for us.

#include <fmt/format.h>

#include <algorithm>

#include "daemon/executor/steps/kinds.hpp"

namespace kubexm::executor::kinds {

namespace {

constexpr const char* kUnitLinks = "/etc/systemd/system";
constexpr std::size_t kMaxUnitLinks = 65536;  // a host has some hundred units

bool is_masked(const UnitStatus& unit) {
    return unit.enablement == "masked" || unit.load == "masked";
}
bool is_enabled(const UnitStatus& unit) { return unit.enablement == "enabled"; }
bool is_active(const UnitStatus& unit) {
    return unit.active == "active" || unit.active == "reloading" || unit.active == "refreshing";
}
/// So is, most of the time, a service that fails and is restarted again and again.
bool is_starting(const UnitStatus& unit) { return unit.active == "activating"; }
bool is_down(const UnitStatus& unit) {
    return !is_active(unit) && !is_starting(unit) && unit.active != "deactivating";
}

bool as_wanted(const std::optional<bool>& wanted, bool found) {
    return !wanted || *wanted == found;
}

/// What shall be active has to have come up, what shall not be has to be down.
bool active_as_wanted(const std::optional<bool>& wanted, const UnitStatus& now) {
    return !wanted || (*wanted ? is_active(now) : is_down(now));
}

bool holds_links(const std::string& directory) {
    return directory.ends_with(".wants") || directory.ends_with(".requires") ||
           directory.ends_with(".upholds");
}

/// Whether there is a link of the kind that enabling makes: of a masked unit systemd does not tell.
Result<bool> is_linked(Context& context, const std::string& unit) {
    auto names = list_directory(context.root, kUnitLinks, kMaxUnitLinks);
    if (!names && names.error().code == Code::not_found) return false;
    if (!names) return std::unexpected(names.error());
    return std::ranges::any_of(*names, [&](const std::string& name) {
        if (!holds_links(name)) return false;
        auto link = state_at(context, fmt::format("{}/{}/{}", kUnitLinks, name, unit));
        return link && link->kind == PathKind::symlink;
    });
}

/// An active unit has to be restarted when what it was started with has changed.
bool needs_restart(const Context& context, const model::UnitState& step) {
    if (step.restart_key.empty() || step.active != true) return false;
    const auto* previous =
        context.previous ? std::get_if<model::UnitState>(&*context.previous) : nullptr;
    return previous == nullptr || previous->restart_key != step.restart_key;
}

/// Runs `verb` where the wish is there and not fulfilled.
Result<> bring(bool wanted, Result<> (Systemd::*verb)(const std::string&, Systemd::Deadline),
               Context& context, const std::string& unit) {
    if (!wanted) return {};
    return (context.systemd.*verb)(unit, context.deadline);
}

/// Whoever was here before may have been cut off after a link was made and before systemd was told.
bool knows_links(const model::UnitState& step, const UnitStatus& now) {
    return (!step.enabled && !step.masked) || !now.needs_reload;
}

/// What systemd says of a unit, once it knows the links that are on the disk.
Result<UnitStatus> informed_status(Context& context, const model::UnitState& step) {
    auto now = context.systemd.status(step.name, context.deadline);
    if (!now || knows_links(step, *now)) return now;
    auto done = context.systemd.reload(context.deadline);
    if (!done) return std::unexpected(done.error());
    return context.systemd.status(step.name, context.deadline);
}

Result<> start_or_restart(Context& context, const model::UnitState& step, const UnitStatus& now) {
    if (step.active != true) return {};
    if (!is_active(now)) return context.systemd.start(step.name, context.deadline);
    if (needs_restart(context, step)) return context.systemd.restart(step.name, context.deadline);
    return {};
}

/// One that was failing before us is left to fail again: it comes back as it was.
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

Result<> stop_all(Context& context, const std::vector<Systemd::PathUnit>& listed) {
    for (const auto& [unit, path, priority] : listed) {
        auto done = context.systemd.stop(unit, context.deadline);
        if (!done && done.error().code != Code::not_found) return done;
    }
    return {};
}

Result<bool> holds(Context& context, const model::UnitState& step) {
    auto now = context.systemd.status(step.name, context.deadline);
    if (!now) return std::unexpected(now.error());
    return as_wanted(step.enabled, is_enabled(*now)) && active_as_wanted(step.active, *now) &&
           as_wanted(step.masked, is_masked(*now)) && knows_links(step, *now) &&
           !needs_restart(context, step);
}

Result<PreImage> capture(Context& context, const model::UnitState& step) {
    auto now = context.systemd.status(step.name, context.deadline);
    if (!now) return std::unexpected(now.error());
    UnitPreImage image{.enablement = is_masked(*now) ? "masked" : now->enablement,
                       .active = is_active(*now),
                       .starting = {},
                       .linked = {}};
    if (is_starting(*now)) image.starting = image.active = true;
    if (!is_masked(*now)) return image;
    auto linked = is_linked(context, step.name);
    if (!linked) return std::unexpected(linked.error());
    if (*linked) image.linked = true;
    return image;
}

Result<> apply(Context& context, const model::UnitState& step) {
    auto now = informed_status(context, step);
    if (!now) return std::unexpected(now.error());
    const std::string& unit = step.name;
    Result<> done = bring(step.masked == false && is_masked(*now), &Systemd::unmask, context, unit);
    if (done) {
        done = bring(step.enabled == true && !is_enabled(*now), &Systemd::enable, context, unit);
    }
    if (done) done = start_or_restart(context, step, *now);
    if (done) done = bring(step.active == false && !is_down(*now), &Systemd::stop, context, unit);
    if (done) {
        done = bring(step.enabled == false && is_enabled(*now), &Systemd::disable, context, unit);
    }
    if (done) done = bring(step.masked == true && !is_masked(*now), &Systemd::mask, context, unit);
    return done;
}

Result<std::string> undo(Context& context, const model::UnitState& step, const PreImage& image) {
    auto before = image_as<UnitPreImage>(image);
    if (!before) return std::unexpected(before.error());
    auto now = informed_status(context, step);
    if (!now) return std::unexpected(now.error());
    const std::string& unit = step.name;
    const bool was_masked = before->enablement == "masked";
    const bool was_enabled = before->enablement == "enabled" || before->linked == true;
    const bool stays_masked = was_masked && is_masked(*now);
    Result<> done = bring(!was_masked && is_masked(*now), &Systemd::unmask, context, unit);
    const bool lost_links = was_enabled && !is_enabled(*now) && !stays_masked;
    if (done) done = bring(lost_links, &Systemd::enable, context, unit);
    if (done) done = start_again(context, unit, *before, *now);
    if (done) {
        done = bring(!before->active && now->active != "inactive", &Systemd::stop, context, unit);
    }
    if (done) done = bring(!was_enabled && is_enabled(*now), &Systemd::disable, context, unit);
    if (done) done = bring(was_masked && !is_masked(*now), &Systemd::mask, context, unit);
    // A unit that failed on its way out would stay listed as failed after its file is gone.
    if (done) done = bring(!before->active, &Systemd::reset_failed, context, unit);
    if (!done) return std::unexpected(done.error());
    return std::string();
}

Result<Lines> preview(Context& context, const model::UnitState& step) {
    auto now = context.systemd.status(step.name, context.deadline);
    if (!now) return std::unexpected(now.error());
    const std::string before = fmt::format("{}, {}", now->active, now->enablement);
    return Lines{fmt::format("{} ({}): {}", step.name, before, model::text_of(step))};
}

Result<bool> holds(Context& context, const model::Unmounted& step) {
    auto mounts = context.systemd.active_units("mount", step.below, context.deadline);
    if (!mounts) return std::unexpected(mounts.error());
    return mounts->empty();
}

Result<PreImage> capture(Context&, const model::Unmounted&) { return NoPreImage{}; }

Result<> apply(Context& context, const model::Unmounted& step) {
    auto mounts = context.systemd.active_units("mount", step.below, context.deadline);
    if (!mounts) return std::unexpected(mounts.error());
    return stop_all(context, *mounts);
}

Result<std::string> undo(Context&, const model::Unmounted&, const PreImage&) {
    return std::string();  // what was mounted there belonged to pods that are gone
}

Result<Lines> preview(Context& context, const model::Unmounted& step) {
    auto mounts = context.systemd.active_units("mount", step.below, context.deadline);
    if (!mounts) return std::unexpected(mounts.error());
    Lines lines;
    for (const auto& mount : *mounts) lines.push_back(mount.path + ": mounted -> unmounted");
    return lines;
}

Result<bool> holds(Context& context, const model::DaemonReload& step) {
    for (const std::string& unit : step.units) {
        auto now = context.systemd.status(unit, context.deadline);
        if (!now) return std::unexpected(now.error());
        if (now->needs_reload) return false;
    }
    return true;
}

Result<PreImage> capture(Context&, const model::DaemonReload&) { return NoPreImage{}; }

Result<> apply(Context& context, const model::DaemonReload&) {
    return context.systemd.reload(context.deadline);
}

Result<std::string> undo(Context& context, const model::DaemonReload&, const PreImage&) {
    if (auto done = context.systemd.reload(context.deadline); !done) {
        return std::unexpected(done.error());
    }
    return std::string();
}

Result<Lines> preview(Context&, const model::DaemonReload& step) {
    return Lines{fmt::format("systemd reads {} again", fmt::join(step.units, ", "))};
}

/// Done when this very command was run for the same object before.
Result<bool> holds(Context& context, const model::TransientUnit& step) {
    return context.previous == model::Step(step);
}

Result<PreImage> capture(Context&, const model::TransientUnit&) { return NoPreImage{}; }

Result<> apply(Context& context, const model::TransientUnit& step) {
    const auto limit =
        std::chrono::steady_clock::now() + std::chrono::seconds(step.timeout_seconds);
    auto code = context.systemd.run({step.name, model::text_of(step), step.argv},
                                    std::min(limit, context.deadline));
    if (!code) return std::unexpected(code.error());
    if (*code == 0) return {};
    return fail(Code::unavailable, fmt::format("{} ended with exit code {}: see journalctl -u {}",
                                               step.argv.front(), *code, step.name));
}

Result<std::string> undo(Context&, const model::TransientUnit&, const PreImage&) {
    return std::string();
}

Result<Lines> preview(Context&, const model::TransientUnit& step) {
    return Lines{model::text_of(step)};
}

}  // namespace kubexm::executor::kinds
