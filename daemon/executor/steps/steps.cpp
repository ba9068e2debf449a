#include "daemon/executor/steps/steps.hpp"

#include "daemon/executor/steps/diff.hpp"
#include "daemon/executor/steps/kinds.hpp"

namespace kubexm::executor {

Result<bool> holds(Context& context, const model::Step& step) {
    return std::visit([&](const auto& kind) { return kinds::holds(context, kind); }, step);
}

Result<PreImage> capture(Context& context, const model::Step& step) {
    return std::visit([&](const auto& kind) { return kinds::capture(context, kind); }, step);
}

Result<> apply(Context& context, const model::Step& step) {
    return std::visit([&](const auto& kind) { return kinds::apply(context, kind); }, step);
}

Result<std::string> undo(Context& context, const model::Step& step, const PreImage& image) {
    return std::visit([&](const auto& kind) { return kinds::undo(context, kind, image); }, step);
}

Result<std::vector<std::string>> preview(Context& context, const model::Step& step) {
    auto already = holds(context, step);
    if (!already) return std::unexpected(already.error());
    if (*already) return std::vector<std::string>{};
    auto lines = std::visit([&](const auto& kind) { return kinds::preview(context, kind); }, step);
    if (!lines) return lines;
    return as_far_as_shown(*std::move(lines));
}

}  // namespace kubexm::executor
