#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/executor/host/manager.hpp"

// Private to the module: what a unit's object on the bus tells about it.

namespace kubexm::executor {

/// As systemd names them; what a unit of its type does not have stays empty.
struct UnitProperties {
    std::string load;
    std::string active;
    std::string sub;
    std::string fragment;
    std::string result;
    std::string where;             // of a mount
    std::string what;              // of a swap: its device or file
    std::int32_t priority = 0;     // of a swap
    std::string job;               // path of the job under way; "/" where there is none
    std::int32_t main_code = 0;    // how the main process ended: CLD_EXITED, CLD_KILLED, ...
    std::int32_t main_status = 0;  // its exit code or its signal
    bool needs_reload = false;
    bool transient = false;
    std::vector<std::vector<std::string>> commands;  // of ExecStart
};

/// Of a unit, known to systemd before or not: the `load` of one that is nowhere is "not-found".
Result<UnitProperties> properties_of_unit(Manager& manager, const std::string& unit,
                                          bus::Deadline deadline);

/// Of a unit that systemd has named by its object's path.
Result<UnitProperties> properties_of_object(Manager& manager, const std::string& object,
                                            bus::Deadline deadline);

}  // namespace kubexm::executor
