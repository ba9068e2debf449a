// Mounts, which PID 1 removes by stopping their units.

#include "daemon/base/try.hpp"
#include "daemon/executor/steps/kinds.hpp"
#include "daemon/executor/steps/rules.hpp"

namespace kubexm::executor::kinds {

namespace {

Result<std::vector<Systemd::PathUnit>> mounts_below(Context& context, const std::string& path) {
    return context.systemd.active_units("mount", path, context.deadline);
}

}  // namespace

Result<> stop_all(Context& context, const std::vector<Systemd::PathUnit>& listed_units) {
    for (const Systemd::PathUnit& each : listed_units) {
        auto done = context.systemd.stop(each.unit, context.deadline);
        if (!done && done.error().code != Code::not_found) return done;
    }
    return {};
}

Result<> permitted(const model::AllowList& allow, const model::Unmounted& step) {
    return path_permitted(allow, step.kType, step.below);
}

Result<bool> holds(Context& context, const model::Unmounted& step) {
    const auto mounts = TRY(mounts_below(context, step.below));
    return mounts.empty();
}

Result<PreImage> capture(Context&, const model::Unmounted&) { return NoPreImage{}; }

Result<> apply(Context& context, const model::Unmounted& step) {
    const auto mounts = TRY(mounts_below(context, step.below));
    return stop_all(context, mounts);
}

Result<std::string> undo(Context&, const model::Unmounted&, const PreImage&) {
    return std::string();  // the mounts belonged to pods that no longer exist
}

Result<Lines> preview(Context& context, const model::Unmounted& step) {
    const auto mounts = TRY(mounts_below(context, step.below));
    Lines lines;
    for (const auto& mount : mounts) lines.push_back(mount.path + ": mounted -> unmounted");
    return lines;
}

}  // namespace kubexm::executor::kinds
