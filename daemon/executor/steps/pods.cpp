// Pods, with their containers, mounts and network, as the container runtime knows them.

#include <fmt/format.h>

#include "daemon/base/try.hpp"
#include "daemon/executor/host/runtime.hpp"
#include "daemon/executor/steps/kinds.hpp"
#include "daemon/executor/steps/new_objects.hpp"
#include "daemon/executor/steps/side_effects.hpp"

namespace kubexm::executor::side_effects {

namespace {

constexpr const char* kSandboxes = "/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes";

/// containerd has a directory for each pod, named by the pod's id, also while containerd is
/// stopped.
Result<Names> recorded_pods(Context& context) {
    return kinds::entries_in(context, kSandboxes, kMostNames);
}

/// A stopped runtime does not block the undo.
Result<std::string> pods_that_stay(Context& context, const Names& before) {
    const Names recorded = TRY(recorded_pods(context));
    const Names staying = new_objects::newer(recorded, before);
    if (staying.empty()) return std::string();
    return fmt::format(
        "containerd is not running: {} pods stay in its records ({}); start it to remove them",
        staying.size(), fmt::join(staying, ", "));
}

/// containerd deletes the files of removed pods when it collects garbage.
Result<std::string> collect_garbage(Context& context) {
    auto done = clear_store(context.deadline);
    return done ? "" : "containerd will clear its store later: " + done.error().what;
}

}  // namespace

/// The pods of a stopped runtime count as well: they are not new when it starts.
Result<Names> pods(Context& context) {
    auto listed = list_pods(context.deadline);
    if (listed || listed.error().code != Code::not_found) return listed;
    return recorded_pods(context);
}

Result<std::string> remove_pods(Context& context, const Names& before) {
    for (int round = 0; round < kRounds; ++round) {
        auto now = list_pods(context.deadline);
        if (!now && now.error().code == Code::not_found) return pods_that_stay(context, before);
        if (!now) return std::unexpected(now.error());
        const Names going = new_objects::newer(*now, before);
        if (going.empty()) return collect_garbage(context);
        for (const std::string& id : going) {
            auto done = remove_pod(id, context.deadline);
            if (!done) return during("removing pod " + id, done.error());
        }
    }
    return fail(Code::conflict,
                "new pods keep appearing: stop the process that creates pods in containerd, then "
                "undo again");
}

}  // namespace kubexm::executor::side_effects
