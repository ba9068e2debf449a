#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "daemon/executor/host/manager.hpp"
#include "daemon/executor/host/systemd.hpp"

// Private to the module: what the verbs of Systemd share.

namespace kubexm::executor {

/// A method that makes or removes links to unit files.
struct LinkMethod {
    const char* name = nullptr;
    const char* arguments = nullptr;    // their types
    bool tells_if_installable = false;  // its answer begins with whether the unit can be enabled
};

struct Systemd::Impl {
    explicit Impl(std::string where) : address(std::move(where)) {}

    /// The manager on a connection that is alive as far as anybody can know.
    Result<Manager*> connect(Deadline deadline);

    /// The same for a verb that concerns a unit, whose name is checked first.
    Result<Manager*> connect_for(std::string_view unit, Deadline deadline);

    /// Runs a job of a unit to its end.
    Result<> job(const char* method, const std::string& unit, Deadline deadline);

    /// Changes the links to a unit's file, and makes systemd see it.
    Result<> relink(const LinkMethod& method, const std::string& unit, Deadline deadline);

    std::string address;
    OnWait on_wait;
    std::optional<Manager> manager;
};

/// Makes systemd read all unit files again.
Result<> reload_files(Manager& manager, bus::Deadline deadline);

}  // namespace kubexm::executor
