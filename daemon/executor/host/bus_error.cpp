#include "daemon/executor/host/bus_error.hpp"

#include <string_view>
#include <utility>

#include "daemon/base/text.hpp"

namespace kubexm::executor::bus {

namespace {

using Name = std::pair<std::string_view, Code>;

// Names that libsystemd maps to no errno, or to one that says less.
constexpr Name kNames[] = {
    {"org.freedesktop.systemd1.NoSuchUnit", Code::not_found},
    {"org.freedesktop.systemd1.LoadFailed", Code::invalid},
    {"org.freedesktop.systemd1.BadUnitSetting", Code::invalid},
    {"org.freedesktop.systemd1.TransactionOrderIsCyclic", Code::invalid},
    {"org.freedesktop.systemd1.UnitMasked", Code::denied},
    {"org.freedesktop.systemd1.OnlyByDependency", Code::denied},
    {"org.freedesktop.systemd1.UnitExists", Code::conflict},
    {"org.freedesktop.systemd1.TransactionIsDestructive", Code::conflict},
    {"org.freedesktop.systemd1.TransactionJobsConflicting", Code::conflict},
    {"org.freedesktop.systemd1.ShuttingDown", Code::unavailable},
    // systemd or the bus has ended or is starting.
    {SD_BUS_ERROR_SERVICE_UNKNOWN, Code::unavailable},
    {SD_BUS_ERROR_NAME_HAS_NO_OWNER, Code::unavailable},
    {SD_BUS_ERROR_NO_REPLY, Code::unavailable},
    {SD_BUS_ERROR_DISCONNECTED, Code::unavailable},
    {SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED, Code::denied},
    {SD_BUS_ERROR_LIMITS_EXCEEDED, Code::exhausted},
};

Code code_of(const sd_bus_error& error) {
    for (const auto& [name, code] : kNames) {
        if (name == error.name) return code;
    }
    return from_errno("", "", sd_bus_error_get_errno(&error)).error().code;
}

}  // namespace

std::unexpected<Error> from_bus(const sd_bus_error& error) {
    return fail(code_of(error), printable(error.message != nullptr ? error.message : error.name));
}

}  // namespace kubexm::executor::bus
