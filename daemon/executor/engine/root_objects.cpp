#include "daemon/executor/engine/root_objects.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/refusal.hpp"
#include "daemon/base/try.hpp"
#include "daemon/model/owner.hpp"

namespace kubexm::executor {

namespace {

using model::Step;

/// Another version may have written the same document in other words.
Step as_wanted(Step step) {
    if (auto* file = std::get_if<model::RenderedFile>(&step)) file->written.reset();
    return step;
}

/// Whether the step decides about the object at its path.
bool makes_path(const Step& step) {
    return !model::path_of(step).empty() && !std::holds_alternative<model::Claim>(step) &&
           !std::holds_alternative<model::Unmounted>(step);
}

/// The kernel parameters that a step sets, now or at the next boot.
std::vector<model::Pair> settings_of(const Step& step) {
    if (const auto* now = std::get_if<model::Sysctl>(&step)) return {{now->key, now->value}};
    const auto* rendered = std::get_if<model::RenderedFile>(&step);
    const auto* file =
        rendered == nullptr ? nullptr : std::get_if<model::SysctlFile>(&rendered->document);
    return file == nullptr ? std::vector<model::Pair>{} : file->values;
}

/// The file of one would override the other after a boot.
bool sets_otherwise(const Step& step, const Step& roots) {
    const auto wanted = settings_of(roots);
    return std::ranges::any_of(settings_of(step), [&](const model::Pair& setting) {
        const auto found = std::ranges::find(wanted, setting.key, &model::Pair::key);
        return found != wanted.end() && found->value != setting.value;
    });
}

bool undoes(const Step& step, const Step& roots) {
    if (sets_otherwise(step, roots)) return true;
    const std::string path = model::path_of(roots);
    const auto* tree = std::get_if<model::DeletedTree>(&step);
    if (tree != nullptr && path.starts_with(tree->path + "/")) return true;
    if (model::type_of(step) == model::type_of(roots)) {
        const bool is_one_object = model::target_of(step) == model::target_of(roots);
        return is_one_object && as_wanted(step) != as_wanted(roots);
    }
    return model::path_of(step) == path && makes_path(step) && makes_path(roots);
}

Result<> leaves(const model::Plan& plan, const std::string& owner, const Step& roots) {
    for (const Step& step : plan.steps) {
        if (!undoes(step, roots)) continue;
        TRY(refusal("root-objects", Code::denied,
                    fmt::format("{}: expected it as owner {} of root applied it, found another "
                                "value in the plan; make both equal, or: kubexmctl undo {}",
                                model::object_of(roots), owner, owner)));
    }
    return {};
}

}  // namespace

Result<> leaves_roots_objects(const model::Plan& plan, const std::vector<LedgerEntry>& ledger) {
    for (const LedgerEntry& entry : ledger) {
        for (const LedgerOwner& owner : entry.owners) {
            if (owner.owner == plan.owner || model::is_machine_owner(owner.owner)) continue;
            const Step roots = TRY(model::step_from_json(owner.step));
            TRY(leaves(plan, owner.owner, roots));
        }
    }
    return {};
}

}  // namespace kubexm::executor
