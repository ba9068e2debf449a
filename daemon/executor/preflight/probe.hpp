#pragma once

#include <cstdint>
#include <string>

#include "daemon/base/deadline.hpp"
#include "daemon/executor/host/systemd.hpp"
#include "daemon/executor/preflight/facts.hpp"

namespace kubexm::executor {

/// Reads the facts of this host. Worker thread.
class PreflightProbe {
public:
    /// Parts that cannot be read are facts of their own. unavailable: systemd does not answer.
    Result<PreflightFacts> read(Systemd& systemd, Deadline deadline);

private:
    /// A program is run once to learn its version; after that only where its file has changed.
    struct Program {
        std::uint64_t device = 0;
        std::uint64_t inode = 0;
        std::int64_t seconds = 0;
        std::int64_t nanoseconds = 0;

        bool operator==(const Program&) const = default;
    };
    Result<std::string> version_of_kubelet(Deadline deadline);

    Program program_;
    std::string version_;  // of program_
};

/// The version in the output of `kubelet --version`. Pure. invalid: none.
Result<std::string> version_in(const std::string& output);
/// Whether /proc/net/tcp or /proc/net/tcp6 has a listener on a port. Pure.
bool has_listener(std::string_view table, std::uint16_t port);
/// The files and devices in /proc/swaps. Pure.
std::vector<std::string> swaps_in(std::string_view table);
/// The driver of the default runtime in containerd's configuration, as CRI shows it: cgroupfs where
/// the option is left out. Pure. none: no such runtime, or not runc.
std::optional<model::CgroupDriver> driver_in(std::string_view configuration);

}  // namespace kubexm::executor
