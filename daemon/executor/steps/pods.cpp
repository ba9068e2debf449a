// Pods, with their containers, mounts and network, as the container runtime knows them.

#include <fmt/format.h>

#include <algorithm>

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
Result<ObjectNames> recorded_pods(Context& context) {
    return kinds::entries_in(context, kSandboxes, kMostNames);
}

/// A dead runtime does not block the undo.
Result<std::string> pods_that_stay(Context& context, const ObjectNames& before, const Error& why) {
    const ObjectNames recorded = TRY(recorded_pods(context));
    const ObjectNames staying = new_objects::newer(recorded, before);
    if (staying.empty()) return std::string();
    return fmt::format(
        "{}: {} pods stay in its records ({}) and their processes end with their control groups; "
        "restart containerd, then remove the pods with crictl rmp --force --all",
        why.code == Code::not_found ? "containerd is not running" : "containerd does not answer",
        staying.size(), fmt::join(staying, ", "));
}

/// The containers of these pods get SIGTERM and their time to end. An error is ignored: removing
/// the pod kills the rest of them.
void end_containers(Context& context, const ObjectNames& pods) {
    auto running = list_containers(context.deadline);
    if (!running) return;
    std::erase_if(*running, [&](const RunningContainer& each) {
        return !std::ranges::binary_search(pods, each.pod);
    });
    if (!running->empty()) std::ignore = stop_containers(*running, context.deadline);
}

/// A few at once: each runs network plugins, which wait for each other.
Result<> remove_in_turn(Context& context, const ObjectNames& pods) {
    constexpr std::size_t kAtOnce = 8;
    for (std::size_t first = 0; first < pods.size(); first += kAtOnce) {
        const auto begin = pods.begin() + static_cast<std::ptrdiff_t>(first);
        const auto count = std::min(kAtOnce, pods.size() - first);
        const ObjectNames some(begin, begin + static_cast<std::ptrdiff_t>(count));
        auto done = executor::remove_pods(some, context.deadline);
        if (!done) return during("removing pods", done.error());
    }
    return {};
}

/// containerd deletes the files of removed pods when it collects garbage.
Result<std::string> collect_garbage(Context& context) {
    auto done = clear_store(context.deadline);
    return done ? "" : "containerd will clear its store later: " + done.error().what;
}

/// One that is stopped, hangs, or whose CRI is off: the pods end with their control groups. One
/// that has just been started is unavailable for a moment: the undo is tried again.
bool is_dead(const Error& error) {
    return error.code == Code::not_found || error.code == Code::timeout;
}

}  // namespace

/// The pods of a stopped runtime count as well: they are not new when it starts.
Result<ObjectNames> pods(Context& context) {
    auto listed = list_pods(context.deadline);
    if (listed || listed.error().code != Code::not_found) return listed;
    return recorded_pods(context);
}

Result<std::string> remove_pods(Context& context, const ObjectNames& before) {
    constexpr std::chrono::seconds kRuntimeDeadline{20};  // with a runtime that does not answer
    for (int round = 0; round < kRounds; ++round) {
        auto now = list_pods(
            std::min(context.deadline, std::chrono::steady_clock::now() + kRuntimeDeadline));
        if (!now && is_dead(now.error())) return pods_that_stay(context, before, now.error());
        if (!now) return std::unexpected(now.error());
        const ObjectNames going = new_objects::newer(*now, before);
        if (going.empty()) return collect_garbage(context);
        end_containers(context, going);
        TRY(remove_in_turn(context, going));
    }
    return fail(Code::conflict,
                "new pods keep appearing: stop the process that creates pods in containerd, then "
                "undo again");
}

}  // namespace kubexm::executor::side_effects
