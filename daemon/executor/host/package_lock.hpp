#pragma once

#include <array>

#include "daemon/executor/host/files.hpp"

namespace kubexm::executor {

/// Files that package managers lock while they change the host.
inline constexpr std::array kPackageLocks{"/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock",
                                          "/var/lib/rpm/.rpm.lock",
                                          "/usr/lib/sysimage/rpm/.rpm.lock"};

/// Whether a process has locked one of them.
bool packages_are_changing(const Root& root);

}  // namespace kubexm::executor
