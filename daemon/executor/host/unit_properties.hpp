#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/base/deadline.hpp"
#include "daemon/executor/host/manager.hpp"
#include "daemon/executor/host/systemd.hpp"

// Private to the module: properties of a unit's object on the bus.

namespace kubexm::executor {

/// Named as by systemd. Properties that the type of the unit lacks are empty.
struct UnitProperties {
    std::string load;
    std::string active;
    std::string sub;
    std::string fragment;
    std::string result;
    std::string where;             // of a mount
    std::string what;              // of a swap: its device or file
    std::int32_t priority = 0;     // of a swap
    std::string job;               // object path of the queued job; "/": none
    std::int32_t main_code = 0;    // how the main process ended: CLD_EXITED, CLD_KILLED, ...
    std::int32_t main_status = 0;  // its exit code or its signal
    bool needs_reload = false;
    bool transient = false;
    std::vector<std::string> drop_ins;
    std::vector<UnitCommand> commands;        // of ExecStart
    std::vector<std::string> start_settings;  // UnitStatus::start_settings
};

/// Loads the unit. The `load` of a unit that does not exist is "not-found".
Result<UnitProperties> properties_of_unit(Manager& manager, const std::string& unit,
                                          Deadline deadline);

/// By the object path of a loaded unit.
Result<UnitProperties> properties_of_object(Manager& manager, const std::string& object,
                                            Deadline deadline);

}  // namespace kubexm::executor
