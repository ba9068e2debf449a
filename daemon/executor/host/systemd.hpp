#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/deadline.hpp"
#include "daemon/base/error.hpp"

namespace kubexm::executor {

/// A command of a unit, as systemd runs it.
struct UnitCommand {
    std::string program;
    std::vector<std::string> argv;

    bool operator==(const UnitCommand&) const = default;
};

struct UnitStatus {
    std::string name;
    std::string load;                   // "loaded", "not-found", "masked", ...
    std::string active;                 // "active", "inactive", "failed", "activating", ...
    std::string sub;                    // "running", "dead", "mounted", ...
    std::string enablement;             // "enabled", "disabled", "masked", "static", "", ...
    std::string fragment;               // path of the unit file
    std::vector<std::string> drop_ins;  // paths of the files that change it
    std::vector<UnitCommand> commands;  // of ExecStart, with all drop-ins
    /// Other settings with a value that decide which programs it starts, as which user, from which
    /// files: {"ExecStartPre", "User"}. Of Environment= only what the dynamic linker reads counts.
    std::vector<std::string> start_settings;
    std::string result;  // of a service: "success", "exit-code", ...
    std::int32_t exit_code = 0;
    bool needs_reload = false;
    bool has_job = false;  // it is being started, stopped, ...

    bool operator==(const UnitStatus&) const = default;
};

/// A command that PID 1 runs once. argv[0] is an absolute path; no shell is involved.
struct TransientCommand {
    std::string unit;  // "kubexm-preflight.service"
    std::string description;
    std::vector<std::string> argv;
};

/// systemd over sd-bus. Blocking calls for the worker thread, each with a deadline, on one
/// connection that is opened on demand and again after it was lost. unavailable: not connected.
///
/// A call that queues a job returns when systemd reports its result: "done" is success; failed,
/// timeout, dependency and the like are `unavailable`, with the job's and the unit's result;
/// canceled is `cancelled`. not_found: no such unit. timeout: the deadline passed; the job was
/// cancelled.
class Systemd {
public:
    /// `address` of a bus, for tests; empty: the system bus.
    explicit Systemd(std::string address = {});
    Systemd(Systemd&&) noexcept;
    Systemd& operator=(Systemd&&) noexcept;
    ~Systemd();

    /// Called every second during a wait for a job of a unit, with the time waited so far.
    using OnWait = std::function<void(const std::string& unit, std::chrono::seconds)>;
    void on_wait(OnWait notify);

    /// The `load` of a unit that does not exist is "not-found".
    Result<UnitStatus> status(const std::string& unit, Deadline deadline);
    Result<> start(const std::string& unit, Deadline deadline);
    Result<> stop(const std::string& unit, Deadline deadline);
    Result<> restart(const std::string& unit, Deadline deadline);
    /// Changes links durably and makes systemd reload. conflict: a file in place of a link.
    /// invalid: a unit without an [Install] section cannot be enabled.
    Result<> enable(const std::string& unit, Deadline deadline);
    Result<> disable(const std::string& unit, Deadline deadline);
    /// Disables a unit without the reload.
    Result<> remove_links(const std::string& unit, Deadline deadline);
    Result<> mask(const std::string& unit, Deadline deadline);
    Result<> unmask(const std::string& unit, Deadline deadline);
    /// Clears a failed state, so that a start is not refused for too many tries. Success also where
    /// systemd does not know the unit.
    Result<> reset_failed(const std::string& unit, Deadline deadline);
    Result<> reload(Deadline deadline);
    /// The same in two parts, one at a time: systemd, which answers nothing else meanwhile, reads
    /// its files in between. unavailable: systemd was lost or replaced, and may not have reloaded.
    Result<> begin_reload(Deadline deadline);
    Result<> end_reload(Deadline deadline);
    /// Whether a unit's files are newer than those that systemd has loaded.
    Result<bool> needs_reload(const std::string& unit, Deadline deadline);

    /// The directories of unit files and drop-ins, the most important one first.
    Result<std::vector<std::string>> unit_path(Deadline deadline);

    /// Whether the host shuts down.
    Result<bool> is_stopping(Deadline deadline);

    /// Active units of a type strictly below a path: {"mount", "/var/lib/kubelet"} or {"swap", ""}.
    /// Deepest path first. While systemd reloads, a path below which it had no mount when that
    /// began has none.
    struct PathUnit {
        std::string unit;
        std::string path;
        std::int32_t priority = 0;  // of a swap
        std::string fragment;       // its unit file; empty: it was mounted without one
    };
    Result<std::vector<PathUnit>> active_units(const std::string& type, const std::string& below,
                                               Deadline deadline);

    /// The names of active units that match a glob: "kubepods*.slice".
    Result<std::vector<std::string>> active_names(const std::string& pattern, Deadline deadline);

    /// Runs a command in a transient unit, returns its exit code and removes the unit. Waits for a
    /// running unit with that name and command instead: this resumes an interrupted run. conflict:
    /// another unit has the name. unavailable: killed by a signal. cancelled: the unit was stopped.
    /// timeout: the deadline passed; the command was stopped.
    Result<std::int32_t> run(const TransientCommand& command, Deadline deadline);

    /// Moves processes into a transient scope, with which they can be stopped. An error, with none
    /// moved: one of them has ended, or a unit has the name.
    Result<> start_scope(const std::string& scope, const std::vector<std::uint32_t>& processes,
                         Deadline deadline);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace kubexm::executor
