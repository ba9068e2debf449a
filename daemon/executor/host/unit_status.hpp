#pragma once

#include "daemon/executor/host/systemd.hpp"

// The meaning of systemd's words about a unit. Pure.

namespace kubexm::executor {

/// Durably, or until the next boot.
inline bool is_masked(const UnitStatus& unit) {
    return unit.enablement.starts_with("masked") || unit.load == "masked";
}
/// Durably: "enabled-runtime" ends with the next boot.
inline bool is_enabled(const UnitStatus& unit) { return unit.enablement == "enabled"; }
inline bool is_active(const UnitStatus& unit) {
    return unit.active == "active" || unit.active == "reloading" || unit.active == "refreshing";
}
/// Most of the time also the state of a service that fails and is restarted in a loop.
inline bool is_starting(const UnitStatus& unit) { return unit.active == "activating"; }
/// Neither running nor on its way to it, nor still stopping.
inline bool is_down(const UnitStatus& unit) {
    return !is_active(unit) && !is_starting(unit) && unit.active != "deactivating";
}

}  // namespace kubexm::executor
