#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/deadline.hpp"
#include "daemon/executor/host/jobs.hpp"
#include "daemon/executor/host/manager.hpp"
#include "daemon/executor/host/systemd.hpp"

// Private to the module: shared by the methods of Systemd.

namespace kubexm::executor {

/// A method of systemd that creates or removes links to unit files.
struct LinkMethod {
    const char* name = nullptr;
    const char* types = nullptr;       // of the arguments
    bool returns_installable = false;  // the reply begins with a bool: [Install] section exists
};

struct ActiveUnit {
    std::string unit;
    std::string object;
};

struct Systemd::Impl {
    struct Reloading {
        bus::PendingCall call;
        std::vector<ActiveUnit> mounts;  // active ones when it began
    };

    explicit Impl(std::string bus) : address(std::move(bus)) {}

    /// The manager, on a new connection where the last one was lost.
    Result<Manager*> connect(Deadline deadline);

    /// The same after a check of the unit's name.
    Result<Manager*> connect_for(std::string_view unit, Deadline deadline);

    /// A property of the manager.
    Result<bus::Message> property(const char* name, Deadline deadline);

    /// Tells on_wait about waits for jobs of a unit.
    auto waits_for(const std::string& unit) const {
        return [notify = on_wait, unit](std::chrono::seconds waited) {
            if (notify) notify(unit, waited);
        };
    }

    /// Queues a job of a unit and waits for its end.
    Result<> job(const char* method, const std::string& unit, Deadline deadline);

    /// Changes the links to a unit's file and reloads systemd.
    Result<> links(const LinkMethod& method, const std::string& unit, Deadline deadline);

    std::string address;
    OnWait on_wait;
    std::optional<Manager> manager;
    std::optional<Reloading> reloading;  // on the manager's connection
};

/// Active units without aliases, by a glob.
Result<std::vector<ActiveUnit>> list_active(Manager& manager, const std::string& pattern,
                                            Deadline deadline);

/// systemctl daemon-reload.
Result<> reload_files(Manager& manager, Deadline deadline);

}  // namespace kubexm::executor
