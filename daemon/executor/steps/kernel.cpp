// Kernel parameters, modules, swap.

#include "daemon/executor/host/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "daemon/executor/steps/forwarding.hpp"
#include "daemon/executor/steps/kinds.hpp"

namespace kubexm::executor::kinds {

namespace {

constexpr const char* kLoaded = "loaded";
constexpr const char* kModuleLoader = "systemd-modules-load.service";
constexpr const char* kSwapOn = "/usr/sbin/swapon";

Result<std::vector<Systemd::PathUnit>> swaps(Context& context) {
    return context.systemd.active_units("swap", "", context.deadline);
}

/// PID 1 runs the command: we hold no right to do it ourselves.
Result<> turn_on_by_path(Context& context, const Swap& swap) {
    std::vector<std::string> argv{kSwapOn, swap.path};
    if (swap.priority) argv.push_back(fmt::format("--priority={}", *swap.priority));
    auto code = context.systemd.run(
        {"kubexm-swapon.service", "kubexm: swap " + swap.path + " on", argv}, context.deadline);
    if (!code) return std::unexpected(code.error());
    if (*code == 0) return {};
    return fail(Code::unavailable,
                fmt::format("{} ended with exit code {}: see journalctl -u kubexm-swapon.service",
                            fmt::join(argv, " "), *code));
}

Result<> turn_on(Context& context, const Swap& swap) {
    auto done = context.systemd.start(swap.unit, context.deadline);
    // A swap that has no unit file has no unit either once it is off.
    if (!done && done.error().code == Code::not_found) return turn_on_by_path(context, swap);
    return done;
}

}  // namespace

Result<bool> holds(Context& context, const model::Sysctl& step) {
    auto value = read_sysctl(context.root, step.key);
    // It may come with a module that an earlier step of the plan loads.
    if (!value && value.error().code == Code::not_found) return false;
    if (!value) return std::unexpected(value.error());
    return *value == step.value;
}

Result<PreImage> capture(Context& context, const model::Sysctl& step) {
    auto value = read_sysctl(context.root, step.key);
    if (!value) return std::unexpected(value.error());
    auto exceptions = exceptions_to(context.root, step.key, *value);
    if (!exceptions) return std::unexpected(exceptions.error());
    if (exceptions->empty()) return ValuePreImage{*std::move(value), {}};
    return ValuePreImage{*std::move(value), *std::move(exceptions)};
}

Result<> apply(Context& context, const model::Sysctl& step) {
    return write_sysctl(context.root, step.key, step.value);
}

Result<std::string> undo(Context& context, const model::Sysctl& step, const PreImage& image) {
    auto before = image_as<ValuePreImage>(image);
    if (!before) return std::unexpected(before.error());
    std::vector<Setting> settings = before->exceptions.value_or(std::vector<Setting>{});
    settings.insert(settings.begin(), {step.key, before->value});
    for (const Setting& setting : settings) {
        auto done = write_sysctl(context.root, setting.key, setting.value);
        // A key whose module or interface is gone has no value to give back.
        if (!done && done.error().code != Code::not_found) return std::unexpected(done.error());
    }
    return std::string();
}

Result<Lines> preview(Context& context, const model::Sysctl& step) {
    auto value = read_sysctl(context.root, step.key);
    if (!value && value.error().code == Code::not_found) value = "none";
    if (!value) return std::unexpected(value.error());
    return Lines{fmt::format("{}: {} -> {}", step.key, *value, step.value)};
}

Result<bool> holds(Context& context, const model::KernelModule& step) {
    return module_loaded(context.root, step.name);
}

Result<PreImage> capture(Context& context, const model::KernelModule& step) {
    auto loaded = module_loaded(context.root, step.name);
    if (!loaded) return std::unexpected(loaded.error());
    return ValuePreImage{*loaded ? kLoaded : "", {}};
}

/// PID 1's own loader reads the modules file that the plan wrote before: we hold no right to load.
Result<> apply(Context& context, const model::KernelModule& step) {
    auto done = context.systemd.restart(kModuleLoader, context.deadline);
    auto loaded = module_loaded(context.root, step.name);
    if (!loaded) return std::unexpected(loaded.error());
    if (*loaded) return {};  // also where the loader failed with a module of somebody else
    if (!done) return done;
    return fail(Code::not_found,
                fmt::format("{0} did not load it: see journalctl -u {0}", kModuleLoader));
}

Result<std::string> undo(Context& context, const model::KernelModule& step, const PreImage& image) {
    auto before = image_as<ValuePreImage>(image);
    if (!before) return std::unexpected(before.error());
    auto loaded = module_loaded(context.root, step.name);
    if (!loaded) return std::unexpected(loaded.error());
    if (before->value == kLoaded || !*loaded) return std::string();
    return fmt::format("kernel module {} stays loaded until the next boot", step.name);
}

Result<Lines> preview(Context&, const model::KernelModule& step) {
    return Lines{fmt::format("kernel module {}: absent -> loaded", step.name)};
}

Result<bool> holds(Context& context, const model::SwapOff&) {
    auto active = swaps(context);
    if (!active) return std::unexpected(active.error());
    return active->empty();
}

Result<PreImage> capture(Context& context, const model::SwapOff&) {
    auto active = swaps(context);
    if (!active) return std::unexpected(active.error());
    // The kernel gives priorities, below zero, in the order in which swaps are turned on.
    std::ranges::stable_sort(*active, std::greater(), &Systemd::PathUnit::priority);
    SwapsPreImage image;
    for (const auto& [unit, path, priority] : *active) {
        image.swaps.push_back({unit, path, {}});
        if (priority >= 0) image.swaps.back().priority = priority;
    }
    return image;
}

Result<> apply(Context& context, const model::SwapOff&) {
    auto active = swaps(context);
    if (!active) return std::unexpected(active.error());
    return stop_all(context, *active);
}

Result<std::string> undo(Context& context, const model::SwapOff&, const PreImage& image) {
    auto before = image_as<SwapsPreImage>(image);
    if (!before) return std::unexpected(before.error());
    for (const Swap& swap : before->swaps) {
        if (auto done = turn_on(context, swap); !done) return std::unexpected(done.error());
    }
    return std::string();
}

Result<Lines> preview(Context& context, const model::SwapOff&) {
    auto active = swaps(context);
    if (!active) return std::unexpected(active.error());
    Lines lines;
    for (const auto& swap : *active) lines.push_back(swap.path + ": on -> off");
    return lines;
}

}  // namespace kubexm::executor::kinds
