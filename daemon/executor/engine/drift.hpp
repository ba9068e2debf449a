#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/host/known_digests.hpp"
#include "daemon/executor/steps/context.hpp"
#include "daemon/model/step.hpp"

namespace kubexm::executor {

/// An object that is not as a step left it.
struct Drifted {
    std::string owner;
    std::string object;  // "write /etc/kubernetes/kubelet.conf"
    std::string found;   // with the reason where it cannot be repaired

    bool operator==(const Drifted&) const = default;
};

struct DriftReport {
    bool decided = true;  // false: a plan runs, the host shuts down or its packages change
    std::vector<Drifted> objects;
    std::optional<Error> problem;         // why some objects could not be compared
    std::vector<std::string> paths;       // to watch for the next change
    std::vector<model::Sysctl> settings;  // as they are now: nothing tells when they change
};

/// The finding for a kernel parameter that the kernel does not have, and for a missing path.
inline constexpr const char* kAbsent = "absent";

/// How the object of an applied step differs now from the step; empty: not at all, or it is a unit
/// with a running job, or an object that no step keeps, such as a deleted directory. Changes
/// nothing.
Result<std::string> difference(Context& context, KnownDigests& digests, const model::Step& applied);

/// The paths whose change may make an applied step differ. Pure.
std::vector<std::string> paths_of(const model::Step& applied);

}  // namespace kubexm::executor
