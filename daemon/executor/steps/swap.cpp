// Swap, which PID 1 turns off by stopping its units.

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "daemon/base/try.hpp"
#include "daemon/executor/steps/kinds.hpp"

namespace kubexm::executor::kinds {

namespace {

constexpr const char* kSwapOn = "/usr/sbin/swapon";

Result<std::vector<Systemd::PathUnit>> active_swaps(Context& context) {
    return context.systemd.active_units("swap", "", context.deadline);
}

/// PID 1 runs the command: the executor lacks the capability.
Result<> turn_on_by_path(Context& context, const Swap& swap) {
    std::vector<std::string> argv{kSwapOn, swap.path};
    if (swap.priority) argv.push_back(fmt::format("--priority={}", *swap.priority));
    const auto code = TRY(context.systemd.run(
        {"kubexm-swapon.service", "kubexm: turn on swap " + swap.path, argv}, context.deadline));
    if (code == 0) return {};
    return fail(Code::unavailable,
                fmt::format("{} ended with exit code {}: see journalctl -u kubexm-swapon.service",
                            fmt::join(argv, " "), code));
}

Result<> turn_on(Context& context, const Swap& swap) {
    auto done = context.systemd.start(swap.unit, context.deadline);
    // Without a unit file, the unit exists only while the swap is on.
    if (!done && done.error().code == Code::not_found) return turn_on_by_path(context, swap);
    return done;
}

}  // namespace

Result<> permitted(const model::AllowList&, const model::SwapOff&) { return {}; }

Result<bool> holds(Context& context, const model::SwapOff&) {
    const auto active = TRY(active_swaps(context));
    return active.empty();
}

Result<PreImage> capture(Context& context, const model::SwapOff&) {
    auto active = TRY(active_swaps(context));
    // The kernel assigns priorities, below zero, in the order in which swaps are turned on.
    std::ranges::stable_sort(active, std::greater(), &Systemd::PathUnit::priority);
    SwapsPreImage image;
    for (const Systemd::PathUnit& swap : active) {
        image.swaps.push_back({swap.unit, swap.path, {}});
        if (swap.priority >= 0) image.swaps.back().priority = swap.priority;
    }
    return image;
}

Result<> apply(Context& context, const model::SwapOff&) {
    const auto active = TRY(active_swaps(context));
    return stop_all(context, active);
}

Result<std::string> undo(Context& context, const model::SwapOff&, const PreImage& image) {
    const auto before = TRY(image_as<SwapsPreImage>(image));
    for (const Swap& swap : before.swaps) TRY(turn_on(context, swap));
    return std::string();
}

Result<Lines> preview(Context& context, const model::SwapOff&) {
    const auto active = TRY(active_swaps(context));
    Lines lines;
    for (const auto& swap : active) lines.push_back(swap.path + ": on -> off");
    return lines;
}

}  // namespace kubexm::executor::kinds
