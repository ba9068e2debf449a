#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"

namespace kubexm::executor {

/// What systemd says about a unit.
struct UnitStatus {
    std::string name;
    std::string load;        // "loaded", "not-found", "masked", ...
    std::string active;      // "active", "inactive", "failed", "activating", ...
    std::string sub;         // "running", "dead", "mounted", ...
    std::string enablement;  // "enabled", "disabled", "masked", "static", "", ...
    std::string fragment;    // path of the unit file
    std::string result;      // of a service: "success", "exit-code", ...
    std::int32_t exit_code = 0;
    bool needs_reload = false;

    bool operator==(const UnitStatus&) const = default;
};

/// A command for PID 1 to run once. argv[0] is an absolute path; there is no shell.
struct TransientCommand {
    std::string unit;  // "kubexm-preflight.service"
    std::string description;
    std::vector<std::string> argv;
};

/// systemd over sd-bus. Straight-line calls for the worker thread, each with a deadline; one
/// connection, opened when needed and again after it was lost (unavailable meanwhile).
///
/// A job is asked for after the subscription to JobRemoved and counts as done when systemd reports
/// its result: "done" is success; failed, timeout, dependency and the like are `unavailable`
/// errors that name unit, job result and the unit's own result; cancelled is `cancelled`.
/// not_found: no such unit. timeout: the deadline passed; the job is cancelled first.
class Systemd {
public:
    using Deadline = std::chrono::steady_clock::time_point;

    /// `address` of a bus, for tests; empty: the system bus.
    explicit Systemd(std::string address = {});
    Systemd(Systemd&&) noexcept;
    Systemd& operator=(Systemd&&) noexcept;
    ~Systemd();

    /// Told every second while a job of systemd is waited for, with how long that is already.
    using OnWait = std::function<void(std::chrono::seconds)>;
    void on_wait(OnWait tell);

    /// Also of a unit that is nowhere: its `load` is "not-found".
    Result<UnitStatus> status(const std::string& unit, Deadline deadline);
    Result<> start(const std::string& unit, Deadline deadline);
    Result<> stop(const std::string& unit, Deadline deadline);
    Result<> restart(const std::string& unit, Deadline deadline);
    /// Links are changed durably, never in place of a file (conflict), and systemd has read its
    /// files again. invalid: a unit without [Install] section cannot be enabled.
    Result<> enable(const std::string& unit, Deadline deadline);
    Result<> disable(const std::string& unit, Deadline deadline);
    Result<> mask(const std::string& unit, Deadline deadline);
    Result<> unmask(const std::string& unit, Deadline deadline);
    /// Clears a failed state, so that a later start is not refused for too many tries. A unit that
    /// systemd does not know has none.
    Result<> reset_failed(const std::string& unit, Deadline deadline);
    Result<> reload(Deadline deadline);

    /// Active units of a type strictly below a path: {"mount", "/var/lib/kubelet"} or {"swap", ""}.
    /// Deepest path first.
    struct PathUnit {
        std::string unit;
        std::string path;
        std::int32_t priority = 0;  // of a swap
    };
    Result<std::vector<PathUnit>> active_units(const std::string& type, const std::string& below,
                                               Deadline deadline);

    /// The names of active units that match a pattern: "kubepods*.slice".
    Result<std::vector<std::string>> active_names(const std::string& pattern, Deadline deadline);

    /// Runs a command in a transient unit to its end and returns its exit code. The unit is gone
    /// afterwards. A unit of that name that is still running is waited for instead of started
    /// again: that is how an interrupted run is picked up. conflict: the name is that of another
    /// unit. unavailable: killed by a signal. cancelled: stopped by somebody. timeout: it was
    /// ended.
    Result<std::int32_t> run(const TransientCommand& command, Deadline deadline);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace kubexm::executor
