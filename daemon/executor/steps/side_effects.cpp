// What runs in a cluster makes besides files: noted before, so that undo knows the rest as ours.

#include "daemon/executor/steps/side_effects.hpp"

#include <fmt/format.h>

#include "daemon/executor/steps/kinds.hpp"
#include "daemon/model/names.hpp"

namespace kubexm::executor::kinds {

namespace {

using model::ByProduct;
using side_effects::Names;

struct Kind {
    Result<Names> (*present)(Context& context);
    Result<std::string> (*remove)(Context& context, const Names& before);
};

Kind verbs_of(ByProduct kind) {
    switch (kind) {
        case ByProduct::pods:
            return {side_effects::pods, side_effects::remove_pods};
        case ByProduct::chains:
            return {side_effects::chains, side_effects::remove_chains};
        case ByProduct::links:
            return {side_effects::links, side_effects::remove_links};
        case ByProduct::cgroups:
            break;
    }
    return {side_effects::groups, side_effects::remove_groups};
}

}  // namespace

/// As a claim: when the ledger has it.
Result<bool> holds(Context& context, const model::SideEffects& step) {
    return context.previous == model::Step(step);
}

Result<PreImage> capture(Context& context, const model::SideEffects& step) {
    auto before = verbs_of(step.kind).present(context);
    if (!before) return std::unexpected(before.error());
    if (before->size() <= side_effects::kMostNames) return SideEffectsPreImage{*std::move(before)};
    return fail(Code::exhausted,
                fmt::format("{} {} are there already; more than {} cannot be remembered",
                            before->size(), name_of(step.kind), side_effects::kMostNames));
}

Result<> apply(Context&, const model::SideEffects&) { return {}; }

Result<std::string> undo(Context& context, const model::SideEffects& step, const PreImage& image) {
    auto known = image_as<SideEffectsPreImage>(image);
    if (!known) return std::unexpected(known.error());
    return verbs_of(step.kind).remove(context, known->before);
}

Result<Lines> preview(Context&, const model::SideEffects& step) {
    return Lines{fmt::format("{}: what appears is ours", name_of(step.kind))};
}

}  // namespace kubexm::executor::kinds
