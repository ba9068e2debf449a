// Objects that a kubelet, its pods and the pod network create: undo removes those that are new.

#include "daemon/executor/steps/side_effects.hpp"

#include <fmt/format.h>

#include <utility>

#include "daemon/base/try.hpp"
#include "daemon/executor/steps/kinds.hpp"
#include "daemon/model/step_names.hpp"

namespace kubexm::executor::kinds {

namespace {

using model::SideEffect;

struct Kind {
    Result<ObjectNames> (*present)(Context& context);
    Result<std::string> (*remove)(Context& context, const ObjectNames& before);
};

Kind verbs_of(SideEffect kind) {
    switch (kind) {
        case SideEffect::pods:
            return {side_effects::pods, side_effects::remove_pods};
        case SideEffect::chains:
            return {side_effects::chains, side_effects::remove_chains};
        case SideEffect::sets:
            return {side_effects::sets, side_effects::remove_sets};
        case SideEffect::links:
            return {side_effects::links, side_effects::remove_links};
        case SideEffect::routes:
            return {side_effects::routes, side_effects::remove_routes};
        case SideEffect::network_files:
            return {side_effects::network_files, side_effects::remove_network_files};
        case SideEffect::cgroups:
            return {side_effects::groups, side_effects::remove_groups};
    }
    std::unreachable();
}

}  // namespace

/// The step names a kind only, so it cannot point at an object of another owner.
Result<> permitted(const model::AllowList&, const model::SideEffects&) { return {}; }

/// True when the ledger has the step.
Result<bool> holds(Context& context, const model::SideEffects& step) {
    return context.previous == model::Step(step);
}

/// kubelet ends every pod that it does not know, so all pods are of the one that runs.
Result<PreImage> capture(Context& context, const model::SideEffects& step) {
    const bool are_pods = step.kind == SideEffect::pods || step.kind == SideEffect::cgroups;
    if (context.has_lost_node && are_pods) return SideEffectsPreImage{};
    auto before = TRY(verbs_of(step.kind).present(context));
    if (before.size() <= side_effects::kMostNames) return SideEffectsPreImage{std::move(before)};
    return fail(Code::exhausted,
                fmt::format("expected at most {} {}, found {}: the ledger cannot record more",
                            side_effects::kMostNames, name_of(step.kind), before.size()));
}

Result<> apply(Context&, const model::SideEffects&) { return {}; }

Result<std::string> undo(Context& context, const model::SideEffects& step, const PreImage& image) {
    const auto known = TRY(image_as<SideEffectsPreImage>(image));
    return verbs_of(step.kind).remove(context, known.before);
}

Result<Lines> preview(Context&, const model::SideEffects& step) {
    return Lines{fmt::format("{}: undo will remove new ones", name_of(step.kind))};
}

}  // namespace kubexm::executor::kinds
