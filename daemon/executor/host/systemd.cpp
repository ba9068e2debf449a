#include "daemon/executor/host/systemd.hpp"

#include <fmt/format.h>

#include <csignal>
#include <utility>

#include "daemon/executor/host/jobs.hpp"
#include "daemon/executor/host/systemd_impl.hpp"
#include "daemon/executor/host/unit_name.hpp"
#include "daemon/executor/host/unit_properties.hpp"

namespace kubexm::executor {

namespace {

// Not from the environment: root does not let others choose whom it obeys.
constexpr const char* kSystemBus = "unix:path=/run/dbus/system_bus_socket";

UnitStatus status_from(const std::string& unit, UnitProperties found, std::string enablement) {
    // The status of a process that was killed is its signal.
    const bool exited = found.main_code == CLD_EXITED;
    return {.name = unit,
            .load = std::move(found.load),
            .active = std::move(found.active),
            .sub = std::move(found.sub),
            .enablement = std::move(enablement),
            .fragment = std::move(found.fragment),
            .result = std::move(found.result),
            .exit_code = exited ? found.main_status : 0,
            .needs_reload = found.needs_reload};
}

/// What the disk says, which systemd itself may have read before a change. Empty: no file.
Result<std::string> enablement_of(Manager& manager, const std::string& unit,
                                  bus::Deadline deadline) {
    auto answer = manager.ask(manager.request("GetUnitFileState", "s", unit.c_str()), deadline);
    if (answer) return read_text(*answer, "s");
    if (answer.error().code == Code::not_found) return std::string();
    return std::unexpected(answer.error());
}

Result<UnitStatus> read_status(Manager& manager, const std::string& unit, bus::Deadline deadline) {
    auto found = properties_of_unit(manager, unit, deadline);
    if (!found) return std::unexpected(found.error());
    auto enablement = enablement_of(manager, unit, deadline);
    if (!enablement) return std::unexpected(enablement.error());
    return status_from(unit, *std::move(found), *std::move(enablement));
}

/// Says why a job did not do what was asked for.
Error job_failure(Manager& manager, const std::string& unit, const std::string& result) {
    if (result == "canceled") {
        return {Code::cancelled, "the job was cancelled, by a person or by a later job"};
    }
    auto found = properties_of_unit(manager, unit, grace());
    const std::string state =
        found ? fmt::format("{} ({})", found->active, found->result) : "in an unknown state";
    return {Code::unavailable,
            fmt::format("the job ended as {}, the unit is {}: see journalctl -u {}", result, state,
                        unit)};
}

}  // namespace

Systemd::Systemd(std::string address)
    : impl_(std::make_unique<Impl>(address.empty() ? kSystemBus : std::move(address))) {}
Systemd::Systemd(Systemd&&) noexcept = default;
Systemd& Systemd::operator=(Systemd&&) noexcept = default;
Systemd::~Systemd() = default;

Result<Manager*> Systemd::Impl::connect(Deadline deadline) {
    if (manager && manager->still_there(deadline)) return &*manager;
    manager.reset();
    auto fresh = Manager::connect(address, deadline);
    if (!fresh) return std::unexpected(fresh.error());
    return &manager.emplace(*std::move(fresh));
}

Result<Manager*> Systemd::Impl::connect_for(std::string_view unit, Deadline deadline) {
    if (auto good = check_unit_name(unit); !good) return std::unexpected(good.error());
    return connect(deadline);
}

Result<> Systemd::Impl::job(const char* method, const std::string& unit, Deadline deadline) {
    auto systemd = connect_for(unit, deadline);
    if (!systemd) return std::unexpected(systemd.error());
    // As systemctl: a job that contradicts an older one takes its place.
    const auto request = (*systemd)->request(method, "ss", unit.c_str(), "replace");
    const std::string doing = fmt::format("{} {}", method, unit);
    auto result = run_job(**systemd, request, deadline, on_wait);
    if (!result) return during(doing, result.error());
    if (*result == "done") return {};
    return during(doing, job_failure(**systemd, unit, *result));
}

void Systemd::on_wait(OnWait tell) { impl_->on_wait = std::move(tell); }

Result<UnitStatus> Systemd::status(const std::string& unit, Deadline deadline) {
    auto systemd = impl_->connect_for(unit, deadline);
    if (!systemd) return std::unexpected(systemd.error());
    auto status = read_status(**systemd, unit, deadline);
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
    auto systemd = impl_->connect_for(unit, deadline);
    if (!systemd) return std::unexpected(systemd.error());
    const auto request = (*systemd)->request("ResetFailedUnit", "s", unit.c_str());
    auto done = (*systemd)->change(request, deadline);
    // A unit that systemd does not even know has not failed.
    if (!done && done.error().code != Code::not_found) {
        return during("ResetFailedUnit " + unit, done.error());
    }
    return {};
}

Result<> Systemd::reload(Deadline deadline) {
    auto systemd = impl_->connect(deadline);
    if (!systemd) return std::unexpected(systemd.error());
    return reload_files(**systemd, deadline);
}

}  // namespace kubexm::executor
