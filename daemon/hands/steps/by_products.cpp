// What runs in a cluster makes besides files: noted before, so that undo knows the rest as ours.

#include "daemon/hands/steps/by_products.hpp"

#include <fmt/format.h>

#include "daemon/hands/steps/kinds.hpp"
#include "daemon/model/names.hpp"

namespace kubexm::hands::kinds {

namespace {

using by_products::Names;
using model::ByProduct;

struct Kind {
    Result<Names> (*present)(Context& context);
    Result<std::string> (*remove)(Context& context, const Names& before);
};

Kind verbs_of(ByProduct kind) {
    switch (kind) {
        case ByProduct::pods:
            return {by_products::pods, by_products::remove_pods};
        case ByProduct::chains:
            return {by_products::chains, by_products::remove_chains};
        case ByProduct::links:
            return {by_products::links, by_products::remove_links};
        case ByProduct::cgroups:
            break;
    }
    return {by_products::groups, by_products::remove_groups};
}

}  // namespace

/// As a claim: when the ledger has it.
Result<bool> holds(Context& context, const model::ByProducts& step) {
    return context.previous == model::Step(step);
}

Result<Image> capture(Context& context, const model::ByProducts& step) {
    auto before = verbs_of(step.kind).present(context);
    if (!before) return std::unexpected(before.error());
    if (before->size() <= by_products::kMostNames) return ByProductsImage{*std::move(before)};
    return fail(Code::exhausted,
                fmt::format("{} {} are there already; more than {} cannot be remembered",
                            before->size(), name_of(step.kind), by_products::kMostNames));
}

Result<> apply(Context&, const model::ByProducts&) { return {}; }

Result<std::string> take_back(Context& context, const model::ByProducts& step, const Image& image) {
    auto known = image_as<ByProductsImage>(image);
    if (!known) return std::unexpected(known.error());
    return verbs_of(step.kind).remove(context, known->before);
}

Result<Lines> preview(Context&, const model::ByProducts& step) {
    return Lines{fmt::format("{}: what appears is ours", name_of(step.kind))};
}

}  // namespace kubexm::hands::kinds
