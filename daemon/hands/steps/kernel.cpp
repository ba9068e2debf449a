// Kernel parameters, modules, swap.

#include "daemon/hands/host/kernel.hpp"

#include <fmt/format.h>

#include "daemon/hands/steps/kinds.hpp"

namespace kubexm::hands::kinds {

namespace {

constexpr const char* kLoaded = "loaded";
constexpr const char* kModuleLoader = "systemd-modules-load.service";

Result<std::vector<Systemd::PathUnit>> swaps(Context& context) {
    return context.systemd.active_units("swap", "", context.deadline);
}

}  // namespace

Result<bool> holds(Context& context, const model::Sysctl& step) {
    auto value = read_sysctl(context.root, step.key);
    if (!value) return std::unexpected(value.error());
    return *value == step.value;
}

Result<Image> capture(Context& context, const model::Sysctl& step) {
    auto value = read_sysctl(context.root, step.key);
    if (!value) return std::unexpected(value.error());
    return ValueImage{*std::move(value)};
}

Result<> apply(Context& context, const model::Sysctl& step) {
    return write_sysctl(context.root, step.key, step.value);
}

Result<std::string> take_back(Context& context, const model::Sysctl& step, const Image& image) {
    auto before = image_as<ValueImage>(image);
    if (!before) return std::unexpected(before.error());
    auto done = write_sysctl(context.root, step.key, before->value);
    // A key whose module or interface is gone has no value to give back.
    if (!done && done.error().code != Code::not_found) return std::unexpected(done.error());
    return std::string();
}

Result<Lines> preview(Context& context, const model::Sysctl& step) {
    auto value = read_sysctl(context.root, step.key);
    if (!value) return std::unexpected(value.error());
    return Lines{fmt::format("{}: {} -> {}", step.key, *value, step.value)};
}

Result<bool> holds(Context& context, const model::KernelModule& step) {
    return module_loaded(context.root, step.name);
}

Result<Image> capture(Context& context, const model::KernelModule& step) {
    auto loaded = module_loaded(context.root, step.name);
    if (!loaded) return std::unexpected(loaded.error());
    return ValueImage{*loaded ? kLoaded : ""};
}

/// PID 1's own loader reads the modules file that the plan wrote before: we hold no right to load.
Result<> apply(Context& context, const model::KernelModule&) {
    return context.systemd.restart(kModuleLoader, context.deadline);
}

Result<std::string> take_back(Context& context, const model::KernelModule& step,
                              const Image& image) {
    auto before = image_as<ValueImage>(image);
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

Result<Image> capture(Context& context, const model::SwapOff&) {
    auto active = swaps(context);
    if (!active) return std::unexpected(active.error());
    UnitsImage image;
    for (const auto& swap : *active) image.units.push_back(swap.unit);
    return image;
}

Result<> apply(Context& context, const model::SwapOff&) {
    auto active = swaps(context);
    if (!active) return std::unexpected(active.error());
    for (const auto& swap : *active) {
        if (auto done = context.systemd.stop(swap.unit, context.deadline); !done) return done;
    }
    return {};
}

Result<std::string> take_back(Context& context, const model::SwapOff&, const Image& image) {
    auto before = image_as<UnitsImage>(image);
    if (!before) return std::unexpected(before.error());
    for (const std::string& unit : before->units) {
        auto done = context.systemd.start(unit, context.deadline);
        if (!done) return std::unexpected(done.error());
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

}  // namespace kubexm::hands::kinds
