#include "daemon/executor/steps/steps.hpp"

#include "daemon/base/try.hpp"
#include "daemon/executor/steps/diff.hpp"
#include "daemon/executor/steps/kinds.hpp"
#include "daemon/executor/steps/rules.hpp"

namespace kubexm::executor {

Result<> permitted(const model::AllowList& allow, const model::Step& step) {
    TRY(listed(allow.steps, std::string(model::type_of(step)), "steps"));
    return std::visit([&](const auto& type) { return kinds::permitted(allow, type); }, step);
}

Result<bool> holds(Context& context, const model::Step& step) {
    return std::visit([&](const auto& type) { return kinds::holds(context, type); }, step);
}

Result<PreImage> capture(Context& context, const model::Step& step) {
    return std::visit([&](const auto& type) { return kinds::capture(context, type); }, step);
}

Result<> apply(Context& context, const model::Step& step) {
    return std::visit([&](const auto& type) { return kinds::apply(context, type); }, step);
}

Result<model::Step> recorded(Vault& vault, const model::Step& step) {
    return std::visit([&](const auto& type) { return kinds::recorded(vault, type); }, step);
}

Result<std::string> written_by(const model::Step& step) {
    return std::visit([](const auto& type) { return kinds::written_by(type); }, step);
}

Result<std::string> undo(Context& context, const model::Step& step, const PreImage& image) {
    return std::visit([&](const auto& type) { return kinds::undo(context, type, image); }, step);
}

Result<PreviewedStep> preview(Context& context, const model::Step& step) {
    const bool already = TRY(holds(context, step));
    if (already) return PreviewedStep{true, {}};
    auto lines =
        TRY(std::visit([&](const auto& type) { return kinds::preview(context, type); }, step));
    return PreviewedStep{false, shorten_preview(std::move(lines))};
}

}  // namespace kubexm::executor
