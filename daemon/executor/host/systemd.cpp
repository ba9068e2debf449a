#include "daemon/executor/host/systemd.hpp"

#include <fmt/format.h>

#include <csignal>
#include <utility>

#include "daemon/base/try.hpp"
#include "daemon/executor/host/jobs.hpp"
#include "daemon/executor/host/systemd_impl.hpp"
#include "daemon/executor/host/unit_name.hpp"
#include "daemon/executor/host/unit_properties.hpp"

namespace kubexm::executor {

namespace {

UnitStatus status_from(const std::string& unit, UnitProperties found, std::string enablement) {
    // For a killed process main_status is the signal.
    const bool exited = found.main_code == CLD_EXITED;
    return {.name = unit,
            .load = std::move(found.load),
            .active = std::move(found.active),
            .sub = std::move(found.sub),
            .enablement = std::move(enablement),
            .fragment = std::move(found.fragment),
            .drop_ins = std::move(found.drop_ins),
            .commands = std::move(found.commands),
            .start_settings = std::move(found.start_settings),
            .result = std::move(found.result),
            .exit_code = exited ? found.main_status : 0,
            .needs_reload = found.needs_reload,
            .has_job = !found.job.empty() && found.job != "/"};
}

/// From the disk, which may have changed since systemd's last reload. Empty: no file.
Result<std::string> enablement_of(Manager& manager, const std::string& unit, Deadline deadline) {
    auto reply = manager.ask(manager.request("GetUnitFileState", "s", unit.c_str()), deadline);
    if (!reply && reply.error().code == Code::not_found) return std::string();
    const auto message = TRY(std::move(reply));
    return read_text(message, "s");
}

Result<UnitStatus> read_status(Manager& manager, const std::string& unit, Deadline deadline) {
    auto found = TRY(properties_of_unit(manager, unit, deadline));
    auto enablement = TRY(enablement_of(manager, unit, deadline));
    return status_from(unit, std::move(found), std::move(enablement));
}

Error job_failure(Manager& manager, const std::string& unit, const std::string& result) {
    if (result == "canceled") {
        return {Code::cancelled, "the job was cancelled or replaced by a later one"};
    }
    auto found = properties_of_unit(manager, unit, grace());
    const std::string state =
        found ? fmt::format("{} ({})", found->active, found->result) : "in unknown state";
    return {Code::unavailable,
            fmt::format("the job ended with {}, the unit is {}; see journalctl -u {}", result,
                        state, unit)};
}

}  // namespace

Systemd::Systemd(std::string address)
    : impl_(std::make_unique<Impl>(address.empty() ? kSystemBus : std::move(address))) {}
Systemd::Systemd(Systemd&&) noexcept = default;
Systemd& Systemd::operator=(Systemd&&) noexcept = default;
Systemd::~Systemd() = default;

Result<Manager*> Systemd::Impl::connect(Deadline deadline) {
    if (manager && manager->is_connected(deadline)) return &*manager;
    reloading.reset();
    manager.reset();
    auto connected = TRY(Manager::connect(address, deadline));
    return &manager.emplace(std::move(connected));
}

Result<Manager*> Systemd::Impl::connect_for(std::string_view unit, Deadline deadline) {
    TRY(check_unit_name(unit));
    return connect(deadline);
}

Result<> Systemd::Impl::job(const char* method, const std::string& unit, Deadline deadline) {
    Manager* systemd = TRY(connect_for(unit, deadline));
    // As systemctl does: a conflicting queued job is replaced.
    const auto request = systemd->request(method, "ss", unit.c_str(), "replace");
    const std::string doing = fmt::format("{} {}", method, unit);
    auto result = run_job(*systemd, request, deadline, waits_for(unit));
    if (!result) return during(doing, result.error());
    if (*result == "done") return {};
    return during(doing, job_failure(*systemd, unit, *result));
}

void Systemd::on_wait(OnWait notify) { impl_->on_wait = std::move(notify); }

Result<UnitStatus> Systemd::status(const std::string& unit, Deadline deadline) {
    Manager* systemd = TRY(impl_->connect_for(unit, deadline));
    auto status = read_status(*systemd, unit, deadline);
    if (!status) return during("reading the state of " + unit, status.error());
    return status;
}

Result<> Systemd::start(const std::string& unit, Deadline deadline) {
    return impl_->job("StartUnit", unit, deadline);
}

Result<> Systemd::stop(const std::string& unit, Deadline deadline) {
    return impl_->job("StopUnit", unit, deadline);
}

Result<> Systemd::restart(const std::string& unit, Deadline deadline) {
    return impl_->job("RestartUnit", unit, deadline);
}

Result<> Systemd::reset_failed(const std::string& unit, Deadline deadline) {
    Manager* systemd = TRY(impl_->connect_for(unit, deadline));
    const auto request = systemd->request("ResetFailedUnit", "s", unit.c_str());
    auto done = systemd->change(request, deadline);
    if (!done && done.error().code != Code::not_found) {
        return during("ResetFailedUnit " + unit, done.error());
    }
    return {};
}

Result<> Systemd::reload(Deadline deadline) {
    Manager* systemd = TRY(impl_->connect(deadline));
    return reload_files(*systemd, deadline);
}

Result<> Systemd::begin_reload(Deadline deadline) {
    Manager* systemd = TRY(impl_->connect(deadline));
    auto mounts = TRY(list_active(*systemd, "*.mount", deadline));
    auto call = systemd->begin_change(systemd->request("Reload"));
    if (!call) return during("reloading systemd", call.error());
    impl_->reloading.emplace(*std::move(call), std::move(mounts));
    return {};
}

Result<> Systemd::end_reload(Deadline deadline) {
    Manager* systemd = TRY(impl_->connect(deadline));
    auto reloading = std::exchange(impl_->reloading, {});
    if (!reloading) return fail(Code::unavailable, "systemd was lost while it reloaded");
    auto done = systemd->end_change(std::move(reloading->call), deadline);
    if (!done) return during("reloading systemd", done.error());
    return {};
}

Result<bool> Systemd::needs_reload(const std::string& unit, Deadline deadline) {
    Manager* systemd = TRY(impl_->connect_for(unit, deadline));
    const auto found = properties_of_unit(*systemd, unit, deadline);
    if (!found) return during("reading the state of " + unit, found.error());
    return found->needs_reload;
}

Result<bus::Message> Systemd::Impl::property(const char* name, Deadline deadline) {
    Manager* systemd = TRY(connect(deadline));
    auto request = systemd->request_to(kManagerPath, "org.freedesktop.DBus.Properties", "Get");
    request.add("ss", kManagerInterface, name);
    return systemd->ask(request, deadline);
}

Result<std::vector<std::string>> Systemd::unit_path(Deadline deadline) {
    const auto reply = TRY(impl_->property("UnitPath", deadline));
    std::vector<std::string> directories;
    const char* directory = nullptr;
    int got = sd_bus_message_enter_container(reply.get(), 'v', "as");
    if (got >= 0) got = sd_bus_message_enter_container(reply.get(), 'a', "s");
    while (got >= 0 && (got = sd_bus_message_read(reply.get(), "s", &directory)) > 0) {
        directories.emplace_back(directory);
    }
    if (got < 0) return bus::unexpected_types(reply.get(), "vas");
    return directories;
}

Result<bool> Systemd::is_stopping(Deadline deadline) {
    const auto reply = TRY(impl_->property("SystemState", deadline));
    const char* state = nullptr;
    TRY(bus::read(reply, "v", "s", &state));
    return std::string_view(state) == "stopping";
}

}  // namespace kubexm::executor
