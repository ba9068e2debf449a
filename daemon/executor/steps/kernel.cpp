// Kernel parameters and modules.

#include "daemon/executor/host/kernel.hpp"

#include <fmt/format.h>

#include "daemon/base/try.hpp"
#include "daemon/executor/steps/forwarding.hpp"
#include "daemon/executor/steps/kinds.hpp"
#include "daemon/executor/steps/new_objects.hpp"
#include "daemon/executor/steps/rules.hpp"

namespace kubexm::executor::kinds {

namespace {

constexpr const char* kLoaded = "loaded";
constexpr const char* kModuleLoader = "systemd-modules-load.service";

/// Of the step that was last prepared, or of the one that was last applied.
bool is_ours(const Context& context, const model::Sysctl& step, const std::string& now) {
    const auto* applied =
        context.previous ? std::get_if<model::Sysctl>(&*context.previous) : nullptr;
    return now == step.value || (applied != nullptr && now == applied->value);
}

/// Software that needs a value does not show whether it relies on ours, which it finds set already.
/// For forwarding its bridges show that.
Result<std::string> why_it_stays(Context& context, const model::Sysctl& step,
                                 const ValuePreImage& before) {
    const auto now = read_sysctl(context.root, step.key);
    // That of before the plan: an undo was interrupted after it.
    if (!now || *now == before.value) return std::string();
    if (!is_ours(context, step, *now)) {
        return fmt::format("{} stays {}: changed after the plan set it; before, it was {}",
                           step.key, *now, before.value);
    }
    const auto bridges = TRY(bridges_of_others(context, before.bridges));
    if (bridges.empty()) return std::string();
    return fmt::format(
        "{} stays {}: {} appeared meanwhile and may need it; before, it was {}: set it again if "
        "nothing on this host needs it",
        step.key, *now, new_objects::listed(bridges), before.value);
}

}  // namespace

Result<> permitted(const model::AllowList& allow, const model::Sysctl& step) {
    return sysctl_permitted(allow, step.key, step.value);
}

Result<bool> holds(Context& context, const model::Sysctl& step) {
    auto value = read_sysctl(context.root, step.key);
    // An earlier step of the plan may load the module that provides the key.
    if (!value && value.error().code == Code::not_found) return false;
    if (!value) return std::unexpected(value.error());
    return *value == step.value;
}

Result<PreImage> capture(Context& context, const model::Sysctl& step) {
    auto value = TRY(read_sysctl(context.root, step.key));
    auto exceptions = TRY(exceptions_to(context.root, step.key, value));
    ValuePreImage image{std::move(value), {}, TRY(bridges_for(context, step.key))};
    if (!exceptions.empty()) image.exceptions = std::move(exceptions);
    return image;
}

Result<> apply(Context& context, const model::Sysctl& step) {
    return write_sysctl(context.root, step.key, step.value);
}

Result<std::string> undo(Context& context, const model::Sysctl& step, const PreImage& image) {
    const auto before = TRY(image_as<ValuePreImage>(image));
    auto why = TRY(why_it_stays(context, step, before));
    if (!why.empty()) return why;
    std::vector<Setting> settings = before.exceptions.value_or(std::vector<Setting>{});
    settings.insert(settings.begin(), {step.key, before.value});
    for (const Setting& setting : settings) {
        auto done = write_sysctl(context.root, setting.key, setting.value);
        // Without its module or interface, a key has no value to restore.
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

Result<> permitted(const model::AllowList& allow, const model::KernelModule& step) {
    return listed(allow.modules, step.name, "modules");
}

Result<bool> holds(Context& context, const model::KernelModule& step) {
    return module_loaded(context.root, step.name);
}

Result<PreImage> capture(Context& context, const model::KernelModule& step) {
    const bool loaded = TRY(module_loaded(context.root, step.name));
    return ValuePreImage{loaded ? kLoaded : "", {}, {}};
}

/// systemd loads the modules of the file that an earlier step of the plan wrote: the executor lacks
/// the capability.
Result<> apply(Context& context, const model::KernelModule& step) {
    auto done = context.systemd.restart(kModuleLoader, context.deadline);
    const bool loaded = TRY(module_loaded(context.root, step.name));
    if (loaded) return {};  // the loader may have failed with a module of another file
    if (!done) return done;
    return fail(Code::not_found, fmt::format("{0} did not load {1}: see journalctl -u {0}",
                                             kModuleLoader, step.name));
}

Result<std::string> undo(Context& context, const model::KernelModule& step, const PreImage& image) {
    const auto before = TRY(image_as<ValuePreImage>(image));
    const bool loaded = TRY(module_loaded(context.root, step.name));
    if (before.value == kLoaded || !loaded) return std::string();
    return fmt::format("kernel module {} stays loaded until the next boot", step.name);
}

Result<Lines> preview(Context&, const model::KernelModule& step) {
    return Lines{fmt::format("kernel module {}: absent -> loaded", step.name)};
}

}  // namespace kubexm::executor::kinds
