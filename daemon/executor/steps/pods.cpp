// Pods, with their containers, mounts and network, as the container runtime knows them.

#include <fmt/format.h>

#include "daemon/executor/host/runtime.hpp"
#include "daemon/executor/steps/new_objects.hpp"
#include "daemon/executor/steps/side_effects.hpp"

namespace kubexm::executor::side_effects {

namespace {

/// containerd's own directory of each pod, named by its id, which is there also while it is not
/// running.
Result<Names> recorded_pods(Context& context) {
    auto names = list_directory(
        context.root, "/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes", kMostNames);
    if (!names && names.error().code == Code::not_found) return Names{};
    return names;
}

/// A host whose runtime is stopped is given back all the same.
Result<std::string> pods_that_stay(Context& context, const Names& before) {
    auto recorded = recorded_pods(context);
    if (!recorded) return std::unexpected(recorded.error());
    const Names staying = new_objects::newer(*recorded, before);
    if (staying.empty()) return std::string();
    return fmt::format("containerd does not answer: {} of its pods stay in its records ({})",
                       staying.size(), fmt::join(staying, ", "));
}

/// Pods are gone when they are removed; what they had written is when containerd has cleared it
/// away.
Result<std::string> cleared(Context& context) {
    auto done = clear_store(context.deadline);
    return done ? "" : "containerd clears its store later: " + done.error().what;
}

}  // namespace

/// A pod is not new because its runtime happened not to run before.
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
        if (going.empty()) return cleared(context);
        for (const std::string& id : going) {
            auto done = remove_pod(id, context.deadline);
            if (!done) return during("removing pod " + id, done.error());
        }
    }
    return fail(Code::conflict, "pods appear faster than they are removed: who starts them?");
}

}  // namespace kubexm::executor::side_effects
